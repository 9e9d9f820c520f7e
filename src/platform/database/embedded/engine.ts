// A PGlite engine that does not lose committed changes. It flushes to disk and has PostgreSQL's durable settings. After a panic of
// PostgreSQL or a trap of WebAssembly it runs no more statements. PGlite alone would loop for ever after a panic, and after a trap it would
// report success for statements that did not run.

import { existsSync, statfsSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { OperatorError, describeError } from '../../core/errors.ts';
import type { PostgresModule } from './durable-nodefs.ts';
import { DurableNodeFS } from './durable-nodefs.ts';

/** The size of a segment of the write-ahead log. PostgreSQL cannot continue to write with less free space. */
const DISK_FULL_BELOW_BYTES = 16 * 1024 * 1024;

/**
 * PostgreSQL's settings. Buffers are small, because a process has one session. `max_stack_depth` makes PostgreSQL reject a deeply nested
 * statement: otherwise the JavaScript stack would overflow and break the engine. Only messages that end the engine are logged, without a
 * prefix. `log_startup_progress_interval` is off, because its timer would keep the process alive after a recovery.
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

/** PGlite's parameters without `-F`, which turns fsync off, and then the settings above. */
const START_PARAMS = [
  ...PGlite.defaultStartParams.filter((param) => param !== '-F'),
  ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
];

/** A log line after which PostgreSQL ends. All lines of a message after the first are indented, so data in a message cannot look like this line. */
const FATAL_LINE = /^(?:PANIC|FATAL): /;

/** Emscripten's number of ENOSPC. */
const ENOSPC = 51;

/** The status with which PGlite leaves PostgreSQL's main loop after an ordinary ERROR. Any other exception means that the engine broke. */
const ORDINARY_ERROR_STATUS = 100;

/** The functions that PGlite calls to run a statement. It calls them in a loop that catches every exception. */
const STATEMENT_CALLS = [
  'stackSave',
  'stackRestore',
  '_PostgresMainLoopOnce',
  '_PostgresMainLongJmp',
  '_PostgresSendReadyForQueryIfNecessary',
  '_pgl_pq_flush',
] as const;

/** The functions that PGlite calls to shut down. On a broken engine they would write its memory to disk as if it had ended cleanly. */
const SHUTDOWN_CALLS = ['_pgl_run_atexit_funcs', '_emscripten_force_exit'] as const;

/**
 * Starts PostgreSQL on `dir`. In an empty directory it creates a cluster. If the engine breaks later, `onFatal` receives one line for the
 * operator. If `onFatal` returns, all later statements fail with that line.
 */
export async function startEngine(dir: string, onFatal: (line: string) => void): Promise<PGlite> {
  let broken: EngineStopped | null = null;
  let started = false;
  const stop = (reason: string): void => {
    if (broken !== null) return;
    broken = new EngineStopped(describeStop(dir, reason, started));
    if (started) onFatal(broken.message);
  };
  const throwIfBroken = (): void => {
    if (broken !== null) throw broken;
  };
  const engine = new PGlite({
    fs: new DurableNodeFS(dir, (module) => guardCalls(module, stop, throwIfBroken)),
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
  throwIfBroken();
  started = true;
  return engine;
}

/** The engine broke, or could not start. Every acknowledged change is stored. A change without an acknowledgement may be stored or lost. */
export class EngineStopped extends OperatorError {}

/** Whether `reason` or the free disk space shows that the disk is full. */
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
    ? `the database in ${dir} has stopped: ${line}; start again, and it recovers from its write-ahead log`
    : `the database in ${dir} cannot be started: ${line}`;
}

/**
 * Makes the functions in STATEMENT_CALLS and SHUTDOWN_CALLS throw at once if the engine is broken. PGlite catches every exception, and calls
 * the engine again until the input of the engine is consumed. Otherwise these calls would never end after a panic, and after a trap the
 * statement would count as done.
 */
function guardCalls(module: PostgresModule, stop: (reason: string) => void, throwIfBroken: () => void): void {
  const functions = module as unknown as Record<string, (...args: unknown[]) => unknown>;
  const guard = (name: string, isBreak: (thrown: unknown) => boolean): void => {
    const original = functions[name];
    if (original === undefined) throw new Error(`this PGlite has no ${name}`);
    functions[name] = (...args) => {
      throwIfBroken();
      try {
        return original(...args);
      } catch (thrown) {
        if (isBreak(thrown)) stop(`the engine broke (${describeThrown(thrown)})`);
        throwIfBroken();
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

/** A message for any value that the engine throws. Its file system throws objects with an error number and no message. */
function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null && 'errno' in thrown && !(thrown instanceof Error)) {
    return thrown.errno === ENOSPC ? 'no space left on device' : `file system error ${String(thrown.errno)}`;
  }
  return describeError(thrown);
}
