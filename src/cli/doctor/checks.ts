// The checks of `mercat doctor`. A finding names settings and must not contain a secret. No check creates a database, or changes
// one: the check of writes rolls back.

import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../platform/core/clock.ts';
import type { Config } from '../../service/config.ts';
import { readConfig } from '../../service/config.ts';
import { listRereadRanges } from '../../market/chain-log/queries/reread-ranges.ts';
import { toReadAgain } from '../../sources/chains/chain-status.ts';
import { embeddedDirectoryOf, hasEmbeddedDatabase } from '../../platform/database/embedded/location.ts';
import type { Database } from '../../platform/database/port.ts';
import { describeDatabaseFailure } from '../../platform/database/port.ts';
import type { WriteFailure } from '../../platform/database/write-health.ts';
import { tryWrite } from '../../platform/database/try-write.ts';
import type { DatabaseHealth } from '../../platform/database/health.ts';
import { findDatabaseHealth } from '../../platform/database/health.ts';
import type { LastBackup } from '../../platform/database/backup/record.ts';
import { findLastBackup } from '../../platform/database/backup/record.ts';
import type { Cluster } from '../../platform/database/citus.ts';
import { findCluster, isReachable, listWorkers } from '../../platform/database/citus.ts';
import type { Schema } from '../../platform/database/migrate.ts';
import { openDatabases } from '../../platform/database/open.ts';
import { listUnrecordedCollections } from '../../market/index/queries/unrecorded-collections.ts';
import { SecretKeys } from '../../platform/core/secret-keys.ts';
import { OperatorError, describeError } from '../../platform/core/errors.ts';
import { describingPermissions } from '../../platform/database/embedded/permissions.ts';
import { DESCRIPTORS_MIN, readDescriptorLimit } from '../../server/descriptor-limit.ts';
import { isServerListening, socketPathOf } from '../../server/local-socket.ts';
import type { SecretsReport } from '../../shop/stored-secrets.ts';
import { reportSecrets } from '../../shop/stored-secrets.ts';
import { createLog } from '../../platform/core/log.ts';
import type { ChainComparison } from './disputes.ts';
import { judgeDisputes } from './disputes.ts';
import type { DoctorFinding } from './findings.ts';
import { CLOCK_FAIL_MS, fail, ok, warn } from './findings.ts';
import { checkOutside } from './outside.ts';
import { checkRedis } from './redis.ts';
import type { ChainRereads } from './rereads.ts';
import { judgeRereads } from './rereads.ts';
import { ServerUnresponsive } from '../../intake/connection.ts';
import { callServer } from '../server-connection.ts';
import { servingProcessesOf } from '../serving-processes.ts';

const DISK_FAIL_BYTES = 100 * 2 ** 20;
const DISK_WARN_BYTES = 2 ** 30;
const DATABASE_TIMEOUT_MS = 5_000;
const CLOCK_WARN_MS = 2_000;
/** A daily backup may take some hours. */
const BACKUP_WARN_SECONDS = 30 * 3_600;

export async function checkAll(signal: AbortSignal): Promise<DoctorFinding[]> {
  const config = checkSettings();
  if ('level' in config) return [config];
  const directory = checkDirectory(config.dataDir);
  const probing = checkOutside(config, signal);
  const [databases, redis, outside] = await Promise.all([
    checkDatabases(config, probing, signal),
    checkRedis(config),
    probing,
  ]);
  return [
    ok('settings', 'every setting is valid'),
    ...directory,
    ...judgeDescriptors(readDescriptorLimit()),
    ...databases,
    ...redis,
    ...outside,
  ];
}

function checkSettings(): Config | DoctorFinding {
  try {
    const config = readConfig();
    servingProcessesOf(config);
    return config;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return fail('settings', error.message, 'docs/settings.md lists the settings and their values');
  }
}

function checkDirectory(dataDir: string): DoctorFinding[] {
  // The first start creates a missing directory, so the nearest existing parent has to be writable.
  let existing = dataDir;
  while (!existsSync(existing) && path.dirname(existing) !== existing) existing = path.dirname(existing);
  const correction = 'make it writable for this user, or set DATA_DIR';
  try {
    describingPermissions(existing, () => accessSync(existing, constants.W_OK | constants.X_OK));
  } catch (error) {
    if (error instanceof OperatorError) return [fail('data directory', error.message, `otherwise ${correction}`)];
    return [fail('data directory', 'it is not writable', correction)];
  }
  const { bavail, bsize } = statfsSync(existing);
  return [ok('data directory', 'it is writable'), judgeDisk(bavail * bsize)];
}

function judgeDisk(freeBytes: number): DoctorFinding {
  const message = `${(freeBytes / 2 ** 30).toFixed(1)} GiB free`;
  const correction = 'make space on the disk of DATA_DIR';
  if (freeBytes < DISK_FAIL_BYTES) return fail('disk', message, correction);
  return freeBytes < DISK_WARN_BYTES ? warn('disk', message, correction) : ok('disk', message);
}

function judgeDescriptors(limit: number | null): DoctorFinding[] {
  if (limit === null) return [];
  const message = `this user may have ${limit} files and connections open in a process`;
  if (limit >= DESCRIPTORS_MIN) return [ok('open files', message)];
  return [warn('open files', message, `raise the limit (ulimit -n, LimitNOFILE) to ${DESCRIPTORS_MIN} or more`)];
}

/** `outside`: the findings about vendors and endpoints. */
async function checkDatabases(
  config: Config,
  outside: Promise<readonly DoctorFinding[]>,
  signal: AbortSignal,
): Promise<DoctorFinding[]> {
  if (config.databaseUrl === null) {
    const socketPath = socketPathOf(config.dataDir);
    const isListening = await isServerListening(socketPath).catch((error: unknown) => describeError(error));
    if (typeof isListening === 'string') return [fail('primary database', isListening, 'see DATA_DIR')];
    if (isListening) return checkThroughServer(socketPath, outside, signal);
    if (!hasEmbeddedDatabase(config.dataDir)) {
      return [ok('primary database', 'the embedded database is created at the first start')];
    }
  }
  const opened = await openDatabases(config, createLog('silent')).catch((error: unknown) => describeError(error));
  if (typeof opened === 'string') {
    const correction =
      config.databaseUrl === null
        ? `if its files are damaged, move ${embeddedDirectoryOf(config.dataDir)} away and restore a backup with mercat restore`
        : 'see DATABASE_URL';
    return [fail('primary database', opened, correction)];
  }
  try {
    const failures = await readWriteFailures(socketPathOf(config.dataDir), signal);
    const [primary, indexer] = [
      await checkDatabase(opened.main, 'main', 'primary database'),
      await checkDatabase(opened.indexer, 'indexer', 'indexer database'),
    ];
    const writes = [
      ...(await checkWrites(opened.main, 'main', { failures, found: primary })),
      ...(opened.indexer === opened.main
        ? []
        : await checkWrites(opened.indexer, 'indexer', { failures, found: indexer })),
    ];
    const isReadable = indexer.every(({ level }) => level === 'ok');
    if (isReadable) {
      const cluster = await findCluster(opened.indexer, 'indexer');
      if (cluster) indexer.push(judgeCluster(cluster, await listUnreachable(opened.indexer)));
    }
    const hasAllRows = isReadable && indexer.every(({ level }) => level !== 'fail');
    const unrecorded = hasAllRows ? judgeUnrecorded(await listUnrecordedCollections(opened.indexer)) : [];
    const isPrimaryReadable = primary.every(({ level }) => level === 'ok');
    const secretKeys = new SecretKeys(config.secretsKeys);
    const secrets = isPrimaryReadable ? judgeSecrets(await reportSecrets({ main: opened.main, secretKeys })) : [];
    const rereads = isPrimaryReadable ? await readRereads(opened.main) : [];
    const waiting = judgeRereads(rereads, { outside: await outside, now: systemClock() });
    const backup = isPrimaryReadable ? [judgeBackup(await findLastBackup(opened.main))] : [];
    const server = await checkServer(config, signal);
    const stored = [...unrecorded, ...secrets, ...waiting, ...backup];
    return [...primary, ...indexer, ...writes, ...stored, ...server];
  } finally {
    await opened.close();
  }
}

/** The workers that the coordinator cannot use, as `host:port`. */
async function listUnreachable(indexer: Database): Promise<string[]> {
  const workers = await listWorkers(indexer);
  const within = indexer.within(DATABASE_TIMEOUT_MS);
  const found = workers.map(async (worker) =>
    (await isReachable(within, worker)) ? [] : [`${worker.host}:${worker.port}`],
  );
  return (await Promise.all(found)).flat();
}

function judgeCluster({ version, nodes, inactive, local }: Cluster, unreachable: readonly string[]): DoctorFinding {
  const name = 'indexer database: Citus';
  if (unreachable.length > 0) {
    return fail(name, `workers that do not respond to the coordinator: ${unreachable.join(', ')}`, 'start them');
  }
  if (local.length > 0) return warn(name, `tables that are not distributed: ${local.join(', ')}`, 'run mercat migrate');
  if (inactive.length > 0) return warn(name, `inactive nodes: ${inactive.join(', ')}`, 'see citus_activate_node');
  return ok(name, `version ${version}, the tables are distributed over ${nodes.join(', ')}`);
}

/** Checks the embedded database through the running server, because only one process can open it. */
async function checkThroughServer(
  socketPath: string,
  outside: Promise<readonly DoctorFinding[]>,
  signal: AbortSignal,
): Promise<DoctorFinding[]> {
  try {
    const status = (await callServer(socketPath, 'status', {}, { signal })) as {
      databases?: { main?: { answers?: boolean } };
      chains?: readonly ChainRereads[] | null;
      backup?: LastBackup | null;
    } & ServerStatus;
    if (!status.databases?.main?.answers) {
      return [fail('primary database', 'it does not respond to the running server', "see the server's log")];
    }
    const unrecorded = (await callServer(socketPath, 'collections.unrecorded', {}, { signal })) as string[];
    const secrets = (await callServer(socketPath, 'secrets.list', {}, { signal })) as SecretsReport;
    return [
      ok('primary database', 'it responds to the running server'),
      ...Object.entries(await readWriteFailures(socketPath, signal)).flatMap(([schema, failure]) =>
        failure ? [judgeWriteFailure(schema as Schema, failure)] : [],
      ),
      ...judgeUnrecorded(unrecorded),
      ...judgeSecrets(secrets),
      ...judgeRereads(status.chains ?? [], { outside: await outside, now: systemClock() }),
      judgeBackup(status.backup ?? null),
      ...judgeServer(status),
    ];
  } catch (error) {
    const isHanging = error instanceof ServerUnresponsive;
    const correction = isHanging ? 'end this process, and start the server again' : "see the server's log";
    return [fail('primary database', describeError(error), correction)];
  }
}

type WriteFailures = Readonly<Partial<Record<string, WriteFailure | null>>>;

/** The failures to write that a running server has noticed. Empty if no server runs, or if it is of an earlier version. */
async function readWriteFailures(socketPath: string, signal: AbortSignal): Promise<WriteFailures> {
  const isListening = await isServerListening(socketPath).catch(() => false);
  if (!isListening) return {};
  return callServer(socketPath, 'databases.writes', {}, { signal }).then(
    (failures) => failures as WriteFailures,
    (error: unknown) => {
      if (signal.aborted || !(error instanceof OperatorError)) throw error;
      return {};
    },
  );
}

/** Tries a write that leaves nothing behind. `found`: the findings about reading this database. */
async function checkWrites(
  db: Database,
  schema: Schema,
  { failures, found }: { failures: WriteFailures; found: readonly DoctorFinding[] },
): Promise<DoctorFinding[]> {
  if (found.some(({ level }) => level === 'fail')) return [];
  const noticed = failures[schema];
  if (noticed) return [judgeWriteFailure(schema, noticed)];
  const name = `${schema === 'main' ? 'primary' : 'indexer'} database: writes`;
  try {
    await tryWrite(db, schema);
    return [ok(name, 'they succeed')];
  } catch (error) {
    // A new database has no schemas before its first migration.
    if ((error as { code?: string }).code === MISSING_SCHEMA_CODE) return [];
    return [fail(name, `they fail: ${describeDatabaseFailure(error) ?? describeError(error)}`, WRITES_CORRECTION)];
  }
}

const MISSING_SCHEMA_CODE = '3F000';
const WRITES_CORRECTION = "free some space on the database's disk, or make it writable: see docs/degradation.md";

function judgeWriteFailure(schema: Schema, { since, error }: WriteFailure): DoctorFinding {
  const name = `${schema === 'main' ? 'primary' : 'indexer'} database: writes`;
  return fail(name, `they fail since ${new Date(since).toISOString()}: ${error}`, WRITES_CORRECTION);
}

async function readRereads(main: Database): Promise<ChainRereads[]> {
  return [...toReadAgain(await listRereadRanges(main.within(DATABASE_TIMEOUT_MS)))].map(([chain, ranges]) => ({
    chain,
    toReadAgain: ranges,
  }));
}

/** A part of the status of a running server, which may be of an earlier version. */
type ServerStatus = {
  clients?: { requestsOfUncountedProxies: number } | null;
  chains?: readonly ChainComparison[] | null;
};

function judgeClients({ clients }: ServerStatus): DoctorFinding[] {
  const count = clients?.requestsOfUncountedProxies ?? 0;
  if (count === 0) return [];
  const message = `${count} requests came through more proxies than TRUST_PROXY names: all clients behind such a proxy share its rate limits`;
  return [warn('client addresses', message, 'set TRUST_PROXY to the number of proxies before the service')];
}

const judgeServer = (status: ServerStatus) => [...judgeClients(status), ...judgeDisputes(status.chains ?? [])];

/** Reads what only the running server knows. A server that does not run has no findings. */
async function checkServer(config: Config, signal: AbortSignal): Promise<DoctorFinding[]> {
  const socketPath = socketPathOf(config.dataDir);
  if (!(await isServerListening(socketPath).catch(() => false))) return [];
  const status = await callServer(socketPath, 'status', {}, { signal }).catch((error: unknown) => describeError(error));
  return typeof status === 'string'
    ? [fail('server', status, "see the server's log")]
    : judgeServer(status as ServerStatus);
}

function judgeBackup(last: LastBackup | null): DoctorFinding {
  const correction = 'see Backups in docs/deploying.md';
  if (!last) return warn('backup', 'none was made with mercat backup', correction);
  const message = `the last one was made at ${last.at}`;
  return last.ageSeconds > BACKUP_WARN_SECONDS ? warn('backup', message, correction) : ok('backup', message);
}

const UNRECORDED_NAMED_MAX = 5;

/** Collections that have rows and no collection record. */
function judgeUnrecorded(ids: readonly string[]): DoctorFinding[] {
  if (ids.length === 0) return [];
  const more = ids.length > UNRECORDED_NAMED_MAX ? ', …' : '';
  const named = `${ids.slice(0, UNRECORDED_NAMED_MAX).join(', ')}${more}`;
  const message = `rows without a collection record are not served: ${named}`;
  return [
    warn('collections', message, 'import a record of the kind collection for each, or see mercat collections add'),
  ];
}

/** Reports secrets that are not encrypted, secrets that are encrypted with an earlier key, and secrets that cannot be decrypted. */
function judgeSecrets({ currentKeyId, stored }: SecretsReport): DoctorFinding[] {
  const name = 'secrets';
  const unreadable = stored.filter(({ readable }) => !readable);
  if (unreadable.length > 0) {
    const keys = [...new Set(unreadable.map(({ keyId }) => keyId))].join(', ');
    return [fail(name, `encrypted with keys that are not in SECRETS_KEY: ${keys}`, 'add these keys to SECRETS_KEY')];
  }
  const judge = (state: string, secrets: SecretsReport['stored'], level: typeof warn | typeof ok): DoctorFinding[] => {
    const counts = secrets.map(({ kind, count }) => `${count} of the kind ${kind}`).join(', ');
    return secrets.length === 0 ? [] : [level(name, `${state}: ${counts}`, 'run mercat secrets encrypt')];
  };
  const clear = stored.filter(({ keyId }) => keyId === null);
  if (currentKeyId === null) return judge('stored in clear, because SECRETS_KEY is empty', clear, ok);
  return [
    ...judge('stored in clear', clear, warn),
    ...judge(
      'encrypted with an earlier key',
      stored.filter(({ keyId }) => keyId !== null && keyId !== currentKeyId),
      warn,
    ),
    ...judge(
      `encrypted with the key ${currentKeyId}`,
      stored.filter(({ keyId }) => keyId === currentKeyId),
      ok,
    ),
  ];
}

async function checkDatabase(db: Database, schema: Schema, name: string): Promise<DoctorFinding[]> {
  const options = { timeoutMs: DATABASE_TIMEOUT_MS, now: systemClock };
  const health = await findDatabaseHealth(db, schema, options).catch((error: unknown) => describeError(error));
  if (typeof health === 'string') {
    const setting = schema === 'main' ? 'DATABASE_URL' : 'INDEXER_DATABASE_URL';
    return [fail(name, `it does not respond: ${health}`, `start it, or see ${setting}`)];
  }
  const { engine, version, latencyMs } = health;
  return [
    ok(name, `${engine} ${version} responds in ${latencyMs} ms`),
    judgeSchema(health, name),
    ...judgeLimits(health, name),
    ...judgeDatabaseClock(health, name),
  ];
}

function judgeSchema({ mistake, pending, waiting }: DatabaseHealth, database: string): DoctorFinding {
  const name = `${database}: schema`;
  if (mistake !== null) return fail(name, mistake, 'use the version of the program that created the schema');
  if (pending.length > 0) {
    return warn(name, `migrations to apply: ${pending.length}`, 'run mercat migrate, or restart the server');
  }
  if (waiting.length > 0) {
    const message = `migrations that wait until no earlier version runs: ${waiting.join(', ')}`;
    return warn(name, message, 'run mercat migrate --contract: see Upgrading in docs/deploying.md');
  }
  return ok(name, 'up to date');
}

/** Checks that PostgreSQL ends statements that run for too long. For the embedded engine the program itself ends such statements. */
function judgeLimits({ engine, limitsStatements }: DatabaseHealth, database: string): DoctorFinding[] {
  if (engine === 'embedded' || limitsStatements) return [];
  const message =
    'statements that run for too long are not cancelled, because a pooler dropped the settings of the connection';
  const correction =
    "ALTER ROLE … SET statement_timeout = '60s', and SET client_connection_check_interval = '1s': see PgBouncer in docs/deploying.md";
  return [warn(`${database}: limits`, message, correction)];
}

function judgeDatabaseClock({ clockAheadMs }: DatabaseHealth, database: string): DoctorFinding[] {
  const name = `${database}: clock`;
  const differenceMs = Math.abs(clockAheadMs);
  const message = `its clock is ${differenceMs} ms ${clockAheadMs < 0 ? 'behind' : 'ahead of'} the clock of this machine`;
  const correction = 'synchronise the clocks of both machines with NTP';
  if (differenceMs >= CLOCK_FAIL_MS) return [fail(name, message, correction)];
  return differenceMs >= CLOCK_WARN_MS ? [warn(name, message, correction)] : [];
}
