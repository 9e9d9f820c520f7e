// Opens the embedded database: PostgreSQL inside this process. The database survives a crash and a power failure
// (docs/embedded-database.md). A lock on its directory keeps a second process out.

import { writeSync } from 'node:fs';
import type { PGlite } from '@electric-sql/pglite';
import type pg from 'pg';
import { OperatorError, describeError } from '../../core/errors.ts';
import { isDoneWithin } from '../../resilience/deadline.ts';
import { ensureCluster, prepareParent } from './directory.ts';
import { EngineStopped, isDiskFull, startEngine } from './engine.ts';
import { takeLock } from './lock.ts';
import { createEmbeddedPool } from './pool.ts';
import { Upkeep } from './upkeep.ts';

/** The exit code of a process whose engine has failed. */
export const EXIT_ENGINE_STOPPED = 70;
const STDERR = 2;
/** `close` waits this long for running statements. A transaction that is not committed by then is rolled back at the next start. */
const CLOSE_WAIT_MS = 1_000;

export type EmbeddedOptions = {
  /** The database directory, for example `<DATA_DIR>/db`. */
  dir: string;
  /** Called with a message if the engine has failed. Default: print it on standard error and exit with code 70. */
  onFatal?: (line: string) => void;
  /** Called with a message about a failure that does not stop the engine. Default: print it on standard error. */
  onWarning?: (line: string) => void;
};

export type Embedded = {
  /** A pool of one connection. Values have the types that `pg` returns by default: int8 and numeric are text. */
  pool: pg.Pool;
  /** Ends the pool, writes a checkpoint, ends the engine and releases the lock. A second call returns the same promise. */
  close(): Promise<void>;
};

/** Opens the database in `options.dir`, or creates it. Throws an OperatorError whose message says what the operator can do. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { onFatal = stopProcess, onWarning = writeLine } = options;
  const dir = await describing(options.dir, () => prepareParent(options.dir));
  const lock = await describing(dir, () => takeLock(dir));
  try {
    const engine = await describing(dir, async () => {
      await ensureCluster(dir);
      return startEngine(dir, onFatal);
    });
    const pool = createEmbeddedPool(engine, dir);
    const upkeep = new Upkeep(pool, onWarning);
    upkeep.start();
    let closed: Promise<void> | undefined;
    return {
      pool,
      close: () => {
        upkeep.stop();
        closed ??= closeAll(pool, engine, onWarning).finally(() => lock.release());
        return closed;
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function closeAll(pool: pg.Pool, engine: PGlite, onWarning: (line: string) => void): Promise<void> {
  try {
    // The owner of the pool may already have ended it. `pg` rejects a second call of `end`.
    if (!pool.ending) await isDoneWithin(pool.end(), CLOSE_WAIT_MS);
    await engine.exec('checkpoint');
  } catch (error) {
    // Without a checkpoint nothing is lost: the next start replays the write-ahead log.
    if (!(error instanceof EngineStopped)) onWarning(`the last checkpoint failed: ${describeError(error)}`);
  } finally {
    await engine.close();
  }
}

/** Runs a step of opening the database. Turns a failure into an OperatorError that names the directory. */
async function describing<T>(dir: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = describeError(error);
    throw new OperatorError(
      isDiskFull(dir, reason)
        ? `the disk that holds ${dir} is full: free some space and start again`
        : `the database directory ${dir} cannot be opened: ${reason}`,
      { cause: error },
    );
  }
}

function writeLine(line: string): void {
  process.stderr.write(`${line}\n`);
}

function stopProcess(line: string): void {
  endProcess(() => writeSync(STDERR, `${line}\n`));
}

/** Reports the failure of the engine, and exits at once, even if the report fails, because the failed engine must not continue. */
export function endProcess(report: () => void): never {
  try {
    report();
  } finally {
    process.exit(EXIT_ENGINE_STOPPED);
  }
}
