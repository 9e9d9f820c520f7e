// Opens the streaming replicas of one database, and chooses a replica for each read.

import { OperatorError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Random } from '../../core/random.ts';
import { systemRandom } from '../../core/random.ts';
import type { Database } from '../port.ts';
import { createDatabase } from '../port.ts';
import type { PoolOptions } from '../postgres.ts';
import { openPostgres } from '../postgres.ts';
import { CheckedServer } from './checked-server.ts';
import { PrimaryProgress } from './primary-progress.ts';
import type { ReadScope } from './read-scope.ts';
import type { LeftOut } from './replica.ts';
import { Replica } from './replica.ts';

export type ReplicaSetOptions = {
  /** The name of the primary in messages, such as `main`. */
  name: string;
  primaryUrl: string;
  replicaUrls: readonly string[];
  /** The name of the setting that contains the URLs of the replicas. */
  setting: string;
  lagMaxMs: number;
  /** When a statement of this process on the primary most recently succeeded, by `performance.now()`. Default: unknown. */
  respondedAt?: () => number;
  /** See ReplicaOptions. Default: half an hour. */
  withoutPrimaryMaxMs?: number;
  /** How many serving processes share the connections to the replicas. Default: 1. */
  processes?: number;
  /** Varies the pauses after which replicas that were too slow are tried again. Default: the system's random numbers. */
  random?: Random;
  log: Log;
};

/**
 * `leftOut`: why the replica is not read. `lagMs`: how far it is behind at most; null if unknown. `latencyMs`: the duration of the latest
 * check; null if the check failed. `isTimelineHidden`: the role is not a member of `pg_read_all_stats`, so the timeline of the replica cannot
 * be read. Without the timeline, a replica that still follows the old primary after a failover is not recognised, and still gets reads.
 * `reads`: the number of statements that were sent to the replica. `repeated`: the number of these statements that failed on the replica.
 */
export type ReplicaStatus = {
  name: string;
  leftOut: LeftOut | null;
  lagMs: number | null;
  latencyMs: number | null;
  isTimelineHidden: boolean;
  reads: number;
  repeated: number;
};

/** The same as STALE_IF_UNAVAILABLE_MS of the response cache. */
const WITHOUT_PRIMARY_MAX_MS = 30 * 60_000;
/**
 * The notes on the primary's progress are kept for this many times `lagMaxMs`, so that the lag of a replica is known even if it exceeds
 * the limit.
 */
const KEPT_LAGS = 2;

/**
 * Mistakes in the settings. The start fails if a replica is left out for one of these reasons. A replica that is left out for any other
 * reason may be read again later.
 */
const MISTAKES: Partial<Record<LeftOut, string>> = {
  'of another system': 'is not a replica of the primary: it has another system identifier',
  'of another database': 'is a replica of the primary, but its URL names another database',
  'of a Citus cluster': 'leads to a node of a Citus cluster, whose replicas Mercat does not read: remove the setting',
};

export const TIMELINE_HIDDEN =
  'the role is not a member of pg_read_all_stats, so the timeline of a replica cannot be read; after a failover, a replica that still follows the old primary would be read';

export class ReplicaSet {
  readonly #options: ReplicaSetOptions;
  readonly #notes: Database;
  readonly #primary: PrimaryProgress;
  readonly #replicas: readonly Replica[];

  constructor(options: ReplicaSetOptions) {
    const { name, primaryUrl, replicaUrls, lagMaxMs, withoutPrimaryMaxMs = WITHOUT_PRIMARY_MAX_MS } = options;
    const { processes = 1, random = systemRandom, log } = options;
    const { respondedAt = () => Number.NEGATIVE_INFINITY } = options;
    this.#options = options;
    this.#notes = openDatabase(primaryUrl, `${name}-progress`, log, { purpose: 'check' });
    this.#primary = new PrimaryProgress(this.#notes, { keptMs: KEPT_LAGS * lagMaxMs, respondedAt });
    this.#replicas = replicaUrls.map((url, index) => {
      const replica = `${name}-replica-${index + 1}`;
      const server = new CheckedServer();
      return new Replica({
        name: replica,
        server,
        reads: openDatabase(url, replica, log, { processes, verify: (client) => server.verify(client) }),
        checks: openDatabase(url, `${replica}-check`, log, { purpose: 'check' }),
        primary: this.#primary,
        lagMaxMs,
        withoutPrimaryMaxMs,
        random,
        log,
      });
    });
  }

  /** Begins the checks. Throws an OperatorError if a server is not a replica of the primary. A replica that cannot be reached is left out. */
  async start(): Promise<void> {
    await this.#primary.next();
    await this.checkAll();
    for (const { name, leftOut, isTimelineHidden } of this.#replicas) {
      const mistake = leftOut && MISTAKES[leftOut];
      if (mistake) throw new OperatorError(`${name} of ${this.#options.setting} ${mistake}`);
      if (isTimelineHidden) this.#options.log.warn(TIMELINE_HIDDEN, { replica: name });
    }
  }

  /** Checks every replica once. */
  async checkAll(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.next()));
  }

  /**
   * Chooses the replica for a read. Prefers the replica that earlier reads of the same scope have used. Otherwise chooses the replica with
   * the fewest running statements or, if the primary is lost, the replica that has most of the log. Returns null if no replica may be read,
   * or if no replica has everything that was committed before `notBefore`. When it returns null, the replicas are checked more often for a
   * while.
   */
  choose({ past }: ReadScope, notBefore: number): Replica | null {
    const earlier = past.chosen.get(this);
    const chosen = earlier?.covers(notBefore) ? earlier : this.#findBest(notBefore);
    if (!chosen) return null;
    past.chosen.set(this, chosen);
    past.coveredUntil = Math.min(past.coveredUntil, chosen.coveredUntil);
    return chosen;
  }

  #findBest(notBefore: number): Replica | null {
    const usable = this.#replicas.filter((replica) => replica.covers(notBefore));
    const [first] = usable;
    if (!first) {
      const wanted = Math.min(notBefore, performance.now());
      this.#primary.request(wanted);
      for (const replica of this.#replicas) replica.request(wanted);
      return null;
    }
    // If the primary is lost, `covers` ignores `notBefore`. Then the most current replica is best: the one that has most of the log.
    const isBetter = this.#primary.isLost
      ? (one: Replica, other: Replica) => one.coveredUntil > other.coveredUntil
      : (one: Replica, other: Replica) => one.load < other.load;
    return usable.reduce((best, replica) => (isBetter(replica, best) ? replica : best), first);
  }

  /** Whether at least one replica can serve reads at present. */
  get isUsable(): boolean {
    return this.#replicas.some(({ leftOut }) => leftOut === null);
  }

  get isPrimaryLost(): boolean {
    return this.#primary.isLost;
  }

  /** Tries to reach the primary until it is certain whether the primary is lost. */
  confirmPrimaryLoss(): Promise<boolean> {
    return this.#primary.confirmLoss();
  }

  status(): ReplicaStatus[] {
    return this.#replicas.map(({ name, leftOut, lagMs, latencyMs, isTimelineHidden, counts }) => ({
      name,
      leftOut,
      lagMs,
      latencyMs,
      isTimelineHidden,
      ...counts,
    }));
  }

  /** The connections for reads. */
  pools(): Pick<Database, 'name' | 'pool'>[] {
    return [...this.#replicas];
  }

  async close(): Promise<void> {
    await this.#primary.close();
    await Promise.all([this.#notes.close(), ...this.#replicas.map((replica) => replica.close())]);
  }
}

function openDatabase(url: string, name: string, log: Log, options: PoolOptions): Database {
  const { pool, close } = openPostgres(url, log, options);
  const closesFailed = options.purpose === 'check';
  return createDatabase(pool, { engine: 'postgresql', name, closesFailed, onClose: close });
}
