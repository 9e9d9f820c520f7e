// A PGlite engine that keeps what it has committed: with fsync, with PostgreSQL's durable settings, and stopped for good after a panic
// or a trap. PGlite alone would then loop for ever, or report success for statements that did not run.

import { existsSync, statfsSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { OperatorError, describeError } from '../../core/errors.ts';
import type { PostgresModule } from './durable-nodefs.ts';
import { DurableNodeFS } from './durable-nodefs.ts';

/** Less than one WAL segment: PostgreSQL cannot go on writing. */
const DISK_FULL_BELOW_BYTES = 16 * 1024 * 1024;

/**
 * Small on purpose: one session, one process. The stack depth is PostgreSQL's own bound on nesting; it has to refuse a statement
 * before the JavaScript stack overflows, which no engine survives. Only lines that end the engine are logged, without a prefix.
 * The progress reports of a recovery are off because their timer outlives it and keeps the process alive.
 */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  wal_sync_method: 'fsync',
  shared_buffers: '16MB',
  wal_buffers: '1MB',
  min_wal_size: '32MB',
  max_wal_size: '64MB',
  maintenance_work_mem: '16MB',
  max_connections: '5',
  max_stack_depth: '100kB',
  log_min_messages: 'fatal',
  log_min_error_statement: 'panic',
  log_line_prefix: '',
  log_startup_progress_interval: '0',
};

/** PGlite's parameters without `-F`, which turns fsync off, followed by the settings above. */
const START_PARAMS = [
  ...PGlite.defaultStartParams.filter((param) => param !== '-F'),
  ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
];

/** A log line after which PostgreSQL ends. The later lines of a message are indented, so data cannot forge one. */
const FATAL_LINE = /^(?:PANIC|FATAL): /;

/** Emscripten's number of ENOSPC. */
const ENOSPC = 51;

/** The status with which PGlite's build leaves PostgreSQL's main loop after an ordinary ERROR. Anything else means that it broke. */
const ORDINARY_ERROR_STATUS = 100;

/** The functions that PGlite calls to run a statement, in a loop that catches everything. */
const STATEMENT_CALLS = [
  'stackSave',
  'stackRestore',
  '_PostgresMainLoopOnce',
  '_PostgresMainLongJmp',
  '_PostgresSendReadyForQueryIfNecessary',
  '_pgl_pq_flush',
] as const;

/** The functions that PGlite calls to shut down. A broken engine would write its memory to disk as after a clean end. */
const SHUTDOWN_CALLS = ['_pgl_run_atexit_funcs', '_emscripten_force_exit'] as const;

/**
 * Starts PostgreSQL on `dir`; in an empty directory it creates a cluster. When the engine breaks later, `onFatal` gets one line for
 * the operator. If `onFatal` returns, all later statements fail with that line.
 */
export async function startEngine(dir: string, onFatal: (line: string) => void): Promise<PGlite> {
  let broken: EngineStopped | null = null;
  let started = false;
  const stop = (reason: string): void => {
    if (broken !== null) return;
    broken = new EngineStopped(describeStop(dir, reason, started));
    if (started) onFatal(broken.message);
  };
  const refuse = (): void => {
    if (broken !== null) throw broken;
  };
  const engine = new PGlite({
    fs: new DurableNodeFS(dir, (module) => guardCalls(module, stop, refuse)),
    startParams: START_PARAMS,
    onStderr: (line) => {
      if (FATAL_LINE.test(line)) stop(line);
      return false;
    },
  });
  try {
    await engine.waitReady;
  } catch (error) {
    stop(describeThrown(error));
  }
  refuse();
  started = true;
  return engine;
}

/** The engine broke, or could not start: nothing that was under way has happened, what was acknowledged before it has. */
export class EngineStopped extends OperatorError {}

/** Whether `reason` or the state of the disk says that there is no room left for the database in `dir`. Never throws. */
export function isDiskFull(dir: string, reason: string): boolean {
  if (/no space left|quota exceeded|ENOSPC|EDQUOT/i.test(reason)) return true;
  if (!existsSync(dir)) return false;
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize < DISK_FULL_BELOW_BYTES;
}

function describeStop(dir: string, reason: string, started: boolean): string {
  const line = reason.replaceAll(/\s+/g, ' ');
  if (isDiskFull(dir, line)) {
    return started
      ? `the disk that holds ${dir} is full and the database has stopped: free some space and start again, every acknowledged write is safe (${line})`
      : `the disk that holds ${dir} is full: free some space and start again (${line})`;
  }
  return started
    ? `the database in ${dir} has stopped: ${line}; start again, it recovers from its log`
    : `the database in ${dir} cannot be started: ${line}`;
}

/**
 * PGlite catches whatever the engine throws and calls it again until its input is used up: after a panic for ever, after a trap until
 * the statement counts as done. After the first break these functions throw instead.
 */
function guardCalls(module: PostgresModule, stop: (reason: string) => void, refuse: () => void): void {
  const functions = module as unknown as Record<string, (...args: unknown[]) => unknown>;
  const guard = (name: string, isBreak: (thrown: unknown) => boolean): void => {
    const original = functions[name];
    if (original === undefined) throw new Error(`this PGlite has no ${name}`);
    functions[name] = (...args) => {
      refuse();
      try {
        return original(...args);
      } catch (thrown) {
        if (isBreak(thrown)) stop(`the engine broke (${describeThrown(thrown)})`);
        refuse();
        throw thrown;
      }
    };
  };
  for (const name of STATEMENT_CALLS) guard(name, (thrown) => !isOrdinaryError(thrown));
  for (const name of SHUTDOWN_CALLS) guard(name, () => false);
}

function isOrdinaryError(thrown: unknown): boolean {
  return typeof thrown === 'object' && thrown !== null && 'status' in thrown && thrown.status === ORDINARY_ERROR_STATUS;
}

/** The message of whatever the engine throws. Its file system throws objects with nothing but a number. */
function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null && 'errno' in thrown && !(thrown instanceof Error)) {
    return thrown.errno === ENOSPC ? 'no space left on device' : `file system error ${String(thrown.errno)}`;
  }
  return describeError(thrown);
}
