// One running PGlite that keeps what it acknowledges: a real fsync, PostgreSQL's own durable settings, and an end of the whole
// engine once it broke. It must never go on after a panic or a trap: PGlite alone then spins, or answers "done" without doing it.

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

/** PGlite's own parameters without `-F`, which turns fsync off, and with ours after them. */
const START_PARAMS = [
  ...PGlite.defaultStartParams.filter((param) => param !== '-F'),
  ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
];

/** How PostgreSQL starts a line that ends it. A message of several lines is indented after the first, so data cannot forge one. */
const FATAL_LINE = /^(?:PANIC|FATAL): /;

/** Emscripten's number for it. */
const ENOSPC = 51;

/** The status that PGlite's build leaves PostgreSQL's main loop with for an ordinary ERROR. Everything else thrown there is a break. */
const ORDINARY_ERROR_STATUS = 100;

/** What PGlite calls to run a statement, in its own catch-all loop. */
const STATEMENT_CALLS = [
  'stackSave',
  'stackRestore',
  '_PostgresMainLoopOnce',
  '_PostgresMainLongJmp',
  '_PostgresSendReadyForQueryIfNecessary',
  '_pgl_pq_flush',
] as const;

/** What PGlite calls to shut PostgreSQL down: a broken one would write its broken memory as a clean end. */
const SHUTDOWN_CALLS = ['_pgl_run_atexit_funcs', '_emscripten_force_exit'] as const;

/**
 * Starts PostgreSQL on `dir`; an empty one gets a new cluster. When the engine breaks later, `onFatal` gets one line for the
 * operator; should it return, every further statement fails with that line.
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
 * PGlite catches whatever the engine throws and calls it again until its input is used up: after a panic for ever, after a trap
 * until the statement counts as done. Past the first break these functions throw instead, outside of that catch as well.
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

/** The text of anything that comes out of the engine; its file system throws objects that hold a number alone. */
function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null && 'errno' in thrown && !(thrown instanceof Error)) {
    return thrown.errno === ENOSPC ? 'no space left on device' : `file system error ${String(thrown.errno)}`;
  }
  return describeError(thrown);
}
