// The checks of `mercat doctor`, each a finding or more. A finding names settings, never what is in them, and no check changes
// anything: a database that is not there yet is left to the first start.

import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../core/clock.ts';
import type { Config } from '../../config.ts';
import { readConfig } from '../../config.ts';
import type { Database } from '../../database/port.ts';
import { findDatabaseHealth } from '../../database/health.ts';
import type { Schema } from '../../database/migrate.ts';
import { openDatabases } from '../../database/open.ts';
import { OperatorError, describeError } from '../../core/errors.ts';
import { socketPathOf } from '../../server/local-server.ts';
import { isServerListening } from '../../intake/socket-client.ts';
import { createLog } from '../../core/log.ts';
import type { DoctorFinding } from './findings.ts';
import { CLOCK_FAIL_MS, fail, ok, warn } from './findings.ts';
import { checkOutside } from './outside.ts';
import { checkRedis } from './redis.ts';
import { callServer } from '../connect-operator.ts';

const DISK_FAIL_BYTES = 100 * 2 ** 20;
const DISK_WARN_BYTES = 2 ** 30;
const DATABASE_TIMEOUT_MS = 5_000;
const CLOCK_WARN_MS = 2_000;

export async function examine(signal: AbortSignal): Promise<DoctorFinding[]> {
  const config = checkSettings();
  if ('level' in config) return [config];
  const directory = checkDirectory(config.dataDir);
  const [databases, redis, outside] = await Promise.all([
    checkDatabases(config),
    checkRedis(config),
    checkOutside(config, signal),
  ]);
  return [ok('settings', 'every setting can be read'), ...directory, ...databases, ...redis, ...outside];
}

function checkSettings(): Config | DoctorFinding {
  try {
    return readConfig();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return fail('settings', error.message, 'docs/settings.md says what each of them takes');
  }
}

function checkDirectory(dataDir: string): DoctorFinding[] {
  // What is not there yet is made at the first start, in the nearest directory that is.
  let place = dataDir;
  while (!existsSync(place) && path.dirname(place) !== place) place = path.dirname(place);
  try {
    accessSync(place, constants.W_OK);
  } catch {
    return [fail('data directory', 'it cannot be written to', 'give this user the right to, or set DATA_DIR')];
  }
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  const message = `${(free / 2 ** 30).toFixed(1)} GiB free`;
  const mend = 'make room on the disk of DATA_DIR';
  const disk =
    free < DISK_FAIL_BYTES
      ? fail('disk', message, mend)
      : free < DISK_WARN_BYTES
        ? warn('disk', message, mend)
        : ok('disk', message);
  return [ok('data directory', 'it can be written to'), disk];
}

async function checkDatabases(config: Config): Promise<DoctorFinding[]> {
  const socketPath = socketPathOf(config.dataDir);
  if (config.databaseUrl === null) {
    if (await isServerListening(socketPath)) return checkThroughServer(socketPath);
    if (!existsSync(path.join(config.dataDir, 'db'))) {
      return [ok('primary database', 'the embedded one will be made at the first start')];
    }
  }
  const opened = await openDatabases(config, createLog('silent')).catch((error: unknown) => describeError(error));
  if (typeof opened === 'string') return [fail('primary database', opened, 'see DATABASE_URL and DATA_DIR')];
  try {
    const { main, indexer } = opened;
    const primary = await checkDatabase(main, 'main', 'primary database');
    return [...primary, ...(await checkDatabase(indexer, 'indexer', 'indexer database'))];
  } finally {
    await opened.close();
  }
}

/** The embedded database has room for one process: the server answers for it. */
async function checkThroughServer(socketPath: string): Promise<DoctorFinding[]> {
  try {
    const status = (await callServer(socketPath, 'status', {})) as { databases?: { main?: { answers?: boolean } } };
    if (status.databases?.main?.answers) return [ok('primary database', 'the running server has it, and it answers')];
    return [fail('primary database', 'the running server has it, and it does not answer', 'see the log of the server')];
  } catch (error) {
    return [fail('primary database', describeError(error), 'see the log of the server')];
  }
}

async function checkDatabase(db: Database, schema: Schema, name: string): Promise<DoctorFinding[]> {
  const options = { timeoutMs: DATABASE_TIMEOUT_MS, now: systemClock };
  const health = await findDatabaseHealth(db, schema, options).catch((error: unknown) => describeError(error));
  if (typeof health === 'string') {
    const setting = schema === 'main' ? 'DATABASE_URL' : 'INDEXER_DATABASE_URL';
    return [fail(name, `it does not answer: ${health}`, `start it, or see ${setting}`)];
  }
  const { engine, version, latencyMs, clockAheadMs, pending, mistake } = health;
  const found = [ok(name, `${engine} ${version} answers in ${latencyMs} ms`)];
  if (mistake !== null) found.push(fail(`${name}: schema`, mistake, 'use the version of the program that made it'));
  else if (pending.length > 0) {
    found.push(warn(`${name}: schema`, `${pending.length} migrations to apply`, 'mercat migrate, or the next start'));
  } else found.push(ok(`${name}: schema`, 'up to date'));
  const ahead = Math.abs(clockAheadMs);
  const message = `its clock is ${ahead} ms ${clockAheadMs < 0 ? 'behind' : 'ahead'}`;
  const mend = 'let both machines take their time from NTP';
  if (ahead >= CLOCK_FAIL_MS) found.push(fail(`${name}: clock`, message, mend));
  else if (ahead >= CLOCK_WARN_MS) found.push(warn(`${name}: clock`, message, mend));
  return found;
}
