// Runs moves of the indexer database for commands, in a running server or in the command's own process. A process runs one move at a time. A move is
// stopped when its command no longer reads the state of the move. The move continues when the command is repeated.

import { OperatorError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { DatabaseSettings } from '../open.ts';
import { openMoveTarget } from '../open.ts';
import type { Database } from '../port.ts';
import type { JobState } from '../watched-job.ts';
import { WatchedJob } from '../watched-job.ts';
import type { Abandoned, MoveSides } from './begin.ts';
import { abandonMove, checkMove } from './begin.ts';
import { countRowsOfTables } from './copy.ts';
import type { MoveProgress, MoveResult } from './move.ts';
import { moveIndex } from './move.ts';
import { listMovedTables } from './tables.ts';
import type { TargetCheck } from './target.ts';
import { checkTarget } from './target.ts';

type JobProgress = MoveProgress & { target: string };
export type MoveJobState = JobState<JobProgress, MoveResult>;

/** What a move would do. `rows`: estimates on PostgreSQL. */
export type MovePlan = {
  source: string;
  target: string;
  step: 'begin' | 'continue' | 'finish';
  check: TargetCheck;
  rows: Readonly<Record<string, number>>;
};

type Input = Readonly<Record<string, unknown>>;

export type MoveJobsOptions = {
  databases: { main: Database; indexer: Database };
  config: DatabaseSettings;
  log: Log;
  /** A move is stopped after this many milliseconds without a read of its state. */
  unreadMsMax?: number;
};

export class MoveJobs {
  readonly #options: MoveJobsOptions;
  #latest: WatchedJob<JobProgress, MoveResult> | null = null;
  #isStarting = false;

  /**
   * The operations of the local socket. The inputs of `move.plan`, `move.start` and `move.abandon` have `to`, the URL of the target. For
   * `move.abandon`, `to` may be null.
   */
  readonly operations: Readonly<Record<string, (input: Input) => Promise<unknown>>> = {
    'move.plan': (input) => this.#withTarget(input, planMove),
    'move.start': (input) => this.#start(input),
    'move.read': () => this.#read(),
    'move.stop': () => this.#stop(),
    'move.abandon': (input) => this.#abandon(input),
  };

  constructor(options: MoveJobsOptions) {
    this.#options = options;
  }

  /** Stops the current move. The service goes on using the source. */
  async close(): Promise<void> {
    await this.#stop();
  }

  async #start(input: Input): Promise<MoveJobState> {
    if (this.#isStarting || this.#latest?.isRunning())
      throw new OperatorError('the index is being moved by another command: wait for its end');
    const sides = this.#openSides(input);
    this.#isStarting = true;
    try {
      // A move that is not possible fails here, before the command shows the stage `preparing`.
      await checkMove(sides);
      this.#latest = this.#move(sides);
      return this.#latest.state;
    } catch (error) {
      await sides.target.close();
      throw error;
    } finally {
      this.#isStarting = false;
    }
  }

  #move(sides: MoveSides): WatchedJob<JobProgress, MoveResult> {
    const target = sides.names.target;
    return new WatchedJob<JobProgress, MoveResult>({
      initial: { stage: 'preparing', detail: '', rows: 0, total: null, target },
      run: async ({ signal, onProgress }) => {
        try {
          return await moveIndex(sides, { signal, onProgress: (progress) => onProgress({ ...progress, target }) });
        } finally {
          await sides.target.close();
        }
      },
      // Makes a long statement fail after a stop. If the command is repeated, the move continues with this statement.
      cut: () => sides.target.close(),
      describeStop: `the move was stopped: ${CONTINUE}`,
      describeFailure: (reason) => `the move failed: ${reason}; ${CONTINUE}`,
      unreadMsMax: this.#options.unreadMsMax,
    });
  }

  async #read(): Promise<MoveJobState> {
    const job = this.#latest;
    if (!job) throw new OperatorError('the server was restarted during the move: repeat the command to continue');
    return job.read();
  }

  async #stop(): Promise<null> {
    await this.#latest?.stop();
    return null;
  }

  async #abandon(input: Input): Promise<Abandoned> {
    await this.#stop();
    if (input['to'] === null) return abandonMove(this.#options.databases.indexer, null);
    return this.#withTarget(input, ({ source, target }) => abandonMove(source, target));
  }

  async #withTarget<T>(input: Input, work: (sides: MoveSides) => Promise<T>): Promise<T> {
    const sides = this.#openSides(input);
    try {
      return await work(sides);
    } finally {
      await sides.target.close();
    }
  }

  #openSides({ to }: Input): MoveSides {
    const { databases, config, log } = this.#options;
    if (typeof to !== 'string' || !URL.canParse(to) || !/^postgres(?:ql)?:$/.test(new URL(to).protocol)) {
      throw new OperatorError('the target has to be a URL such as postgres://user@host/database', { exitCode: 2 });
    }
    const url = config.indexerDatabaseUrl ?? config.databaseUrl;
    const names = { source: url === null ? 'the embedded database' : toName(url), target: toName(to) };
    const target = openMoveTarget(to, log);
    let closed: Promise<void> | null = null;
    return { source: databases.indexer, target: { ...target, close: () => (closed ??= target.close()) }, names };
  }
}

/** The server and the database, without the credentials and options of the URL. */
function toName(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

async function planMove(sides: MoveSides): Promise<MovePlan> {
  const check = await checkTarget(sides.target);
  const step = await checkMove(sides);
  const rows = await countRowsOfTables(sides.source, await listMovedTables(sides.source));
  return { ...sides.names, step, check, rows };
}

const CONTINUE = 'the service uses its present index; repeat the command to continue, or add --abandon to give up';
