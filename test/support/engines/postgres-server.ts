// PostgreSQL servers for tests: the server that TEST_DATABASE_URL names, or servers that a test starts, stops, freezes and
// discards itself.

import type { SpawnSyncOptions } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { SCHEMAS, migrate } from '../../../src/platform/database/migrate.ts';
import { createDatabase } from '../../../src/platform/database/port.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { onCleanUp } from './cleanup.ts';

let databases = 0;

/** Creates a new database on the server: a copy of the database `template`, or an empty database. Returns the URL of the new database. */
export async function createTestDatabase(serverUrl: string, template: string | null = null): Promise<string> {
  databases += 1;
  const name = `mercat_test_${process.pid}_${databases}`;
  await administer(serverUrl, async (admin) => {
    await admin.query(`drop database if exists ${name}`);
    await admin.query(`create database ${name} ${template === null ? '' : `template ${template}`}`);
  });
  // A server of the test's own discards its databases itself.
  if (process.env['TEST_DATABASE_URL'] === serverUrl) {
    onCleanUp(() => administer(serverUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`)));
  }
  return toDatabaseUrl(serverUrl, name);
}

async function administer(serverUrl: string, work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function toDatabaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

const templates = new Map<string, Promise<string>>();

/** Returns the name of a database that tests copy. All migrations are applied to it. The first call for a server makes the database. */
export function migratedTemplate(serverUrl: string): Promise<string> {
  const known = templates.get(serverUrl);
  if (known) return known;
  const made = makeMigratedTemplate(serverUrl);
  templates.set(serverUrl, made);
  return made;
}

async function makeMigratedTemplate(serverUrl: string): Promise<string> {
  const shared = process.env['TEST_DATABASE_TEMPLATE'];
  if (shared && serverUrl === process.env['TEST_DATABASE_URL']) return shared;
  const url = await createTestDatabase(serverUrl);
  onCleanUp(() => void templates.delete(serverUrl));
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const database = createDatabase(pool, { engine: 'postgresql', name: 'main' });
  for (const schema of SCHEMAS) await migrate(database, schema);
  await database.close();
  return new URL(url).pathname.slice(1);
}

export function canRunPostgres(): boolean {
  return Boolean(process.env['TEST_DATABASE_URL']) || canStartPostgres();
}

/** Whether tests can start servers of their own, which they may stop, kill and freeze. */
export function canStartPostgres(): boolean {
  return findPostgresPrograms() !== null;
}

/**
 * A PostgreSQL server. A server that this process started can be stopped, killed, frozen and restarted. The server that
 * TEST_DATABASE_URL names cannot: `stop`, `kill`, `start` and `discard` do nothing, and `freeze` and `thaw` throw.
 */
export type PostgresServer = {
  url: string;
  /** The id of the server's first process. null for the server that TEST_DATABASE_URL names. */
  pid(): number | null;
  isRunning(): boolean;
  stop(): Promise<void>;
  /** Ends the server without a shutdown, as a crash does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Suspends all processes of the server. Open connections stay open. The kernel accepts new connections, but they get no response. */
  freeze(): void;
  thaw(): void;
  /** Stops the server, whatever its state, and deletes its data. */
  discard(): Promise<void>;
};

export type PostgresOptions = {
  /** Commits are flushed to the disk, as in production. Off by default, because it is slow. */
  durable?: boolean;
  /** Settings of the server, such as `{ synchronous_standby_names: '*' }`. */
  settings?: Readonly<Record<string, string>>;
  /** The folder in which the server's own folder is made. By default the folder for temporary files. */
  parent?: string;
  /** The URL of a server of which the new server is a streaming replica. By default the new server is a primary with no data. */
  replicaOf?: string;
  /** The data directory of a stopped server, of which the new server gets a copy. Not possible together with `replicaOf`. */
  copyOf?: string;
};

/** A server that this process started. */
export type OwnPostgresServer = PostgresServer & {
  /** The path of its data directory. */
  data: string;
};

/** The server that TEST_DATABASE_URL names, or a new server. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const named = process.env['TEST_DATABASE_URL'];
  if (!named) return startOwnPostgres(options);
  const nothing = () => Promise.resolve();
  const impossible = () => {
    throw new Error('the server of TEST_DATABASE_URL cannot be frozen');
  };
  return {
    url: named,
    pid: () => null,
    isRunning: () => true,
    stop: nothing,
    kill: nothing,
    start: nothing,
    freeze: impossible,
    thaw: impossible,
    discard: nothing,
  };
}

const START_LIMIT_MS = 60_000;

export async function startOwnPostgres({
  durable = false,
  settings = {},
  parent = os.tmpdir(),
  replicaOf,
  copyOf,
}: PostgresOptions = {}): Promise<OwnPostgresServer> {
  const programs = findPostgresPrograms();
  if (!programs) throw new Error('PostgreSQL is not on this machine');
  const dir = mkdtempSync(path.join(parent, 'mercat-postgres-'));
  const owner = serverOwner();
  if (owner) chownSync(dir, owner.uid, owner.gid);
  const data = path.join(dir, 'data');
  if (copyOf === undefined) {
    const [program, ...programArgs] = replicaOf === undefined ? initdb(data) : baseBackup(data, replicaOf);
    run(path.join(programs, program), programArgs, { ...owner, cwd: dir });
  } else {
    copyDataDirectory(copyOf, data);
  }
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${dir}`,
  ];
  args.push('-c', `fsync=${durable ? 'on' : 'off'}`, '-c', 'max_connections=200', '-c', 'shared_buffers=64MB');
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  let child: ReturnType<typeof spawn> | null = null;
  const start = async () => {
    child = spawn(path.join(programs, 'postgres'), args, { ...owner, cwd: dir, stdio: 'ignore' });
    await until(() => canConnect(url), START_LIMIT_MS, 'PostgreSQL did not start');
  };
  const end = async (signal: NodeJS.Signals) => {
    const running = child;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const exited = new Promise((resolve) => running.once('exit', resolve));
    running.kill(signal);
    await exited;
  };
  const signalAll = (signal: NodeJS.Signals) => {
    const first = child?.pid;
    if (first === undefined) return;
    // The first process starts the other processes. A freeze suspends the first process before the children are listed, so that no child is missed.
    process.kill(first, signal);
    for (const pid of listChildren(first)) signalIfThere(pid, signal);
  };
  await start();
  return {
    url,
    data,
    pid: () => child?.pid ?? null,
    isRunning: () => child !== null && child.exitCode === null && child.signalCode === null,
    start,
    kill: () => end('SIGQUIT'),
    stop: async () => {
      await end('SIGINT');
      rmSync(path.join(data, 'postmaster.pid'), { force: true });
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    discard: async () => {
      if (child?.exitCode === null && child.signalCode === null) signalAll('SIGCONT');
      await end('SIGQUIT');
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Copies the data directory of a stopped server to `to`, which must not exist yet. */
export function copyDataDirectory(from: string, to: string): void {
  // `cp` keeps the owner of the files, which `cpSync` of Node does not.
  run('cp', ['-a', from, to], {});
}

function run(program: string, args: readonly string[], options: SpawnSyncOptions): void {
  const { status, stderr, error } = spawnSync(program, args, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`, { cause: error });
}

type Command = [program: string, ...args: string[]];

const INITDB_OPTIONS = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
const BACKUP_OPTIONS = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync'];

const initdb = (data: string): Command => ['initdb', '-D', data, ...INITDB_OPTIONS];
const baseBackup = (data: string, url: string): Command => ['pg_basebackup', '-D', data, '-d', url, ...BACKUP_OPTIONS];

/** Does nothing when the process has ended since it was listed. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
  }
}

/** The ids of the processes that a process has started. */
export function listChildren(parent: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  if (stdout) {
    const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
    return rows.flatMap(([pid, ppid]) => (pid !== undefined && ppid === parent ? [pid] : []));
  }
  // Small container images have no `ps`, but they have /proc.
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

async function canConnect(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A folder with the programs of a PostgreSQL server of a supported version. Null if there is none. */
export function findPostgresPrograms(): string | null {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(a) - Number(b)) : [];
  // The oldest supported version comes first, because SQL that works on the oldest version also works on newer versions.
  const folders = versions.filter((version) => Number(version) >= 15).map((version) => path.join(root, version, 'bin'));
  folders.push('/usr/local/pgsql/bin', '/opt/homebrew/opt/postgresql@15/bin', '/opt/homebrew/bin', '/usr/local/bin');
  return (
    folders.find((folder) => existsSync(path.join(folder, 'initdb')) && existsSync(path.join(folder, 'postgres'))) ??
    null
  );
}

/** The ids of the user `postgres` if the tests run as root, because PostgreSQL refuses to run as root. Otherwise null. */
function serverOwner(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}
