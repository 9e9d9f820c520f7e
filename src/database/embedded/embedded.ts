// Opens the embedded database: PostgreSQL inside this process, on one directory, safe against a second process, a crash and a power
// failure (docs/embedded-database.md). A directory is opened only with its lock held.

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
/** How long `close` waits for the connection. A statement that is still running is rolled back by the next start. */
const CLOSE_WAIT_MS = 10_000;

export type EmbeddedOptions = {
  /** The database directory itself, for example `<DATA_DIR>/db`. */
  dir: string;
  /** Gets one line when the engine has failed. Default: print it on standard error and exit with 70. */
  onFatal?: (line: string) => void;
  /** Gets one line about a failure that will be retried. Default: print it on standard error. */
  onWarning?: (line: string) => void;
};

export type Embedded = {
  /** One connection. Values have the types that `pg` returns by default: int8 and numeric are text. */
  pool: pg.Pool;
  /** Writes a checkpoint, ends the pool and the engine, and releases the lock. A second call does nothing more. */
  close(): Promise<void>;
};

/** Opens the database in `options.dir`, which is created if there is none. Throws an OperatorError that says what to do. */
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
    // The owner of the pool may have ended it already, and `pg` rejects a second end.
    if (!pool.ending) await isDoneWithin(pool.end(), CLOSE_WAIT_MS);
    await engine.exec('checkpoint');
  } catch (error) {
    // Nothing is lost without a checkpoint: the next start replays the log.
    if (!(error instanceof EngineStopped)) onWarning(`the last checkpoint failed: ${describeError(error)}`);
  } finally {
    await engine.close();
  }
}

/** Runs a step of opening. A failure of the file system or the engine becomes one line for the operator. */
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

/** Exits at once, because no code of the engine may run any more; also when the line cannot be written. */
function stopProcess(line: string): void {
  try {
    writeSync(STDERR, `${line}\n`);
  } finally {
    process.exit(EXIT_ENGINE_STOPPED);
  }
}
