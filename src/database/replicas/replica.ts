// Sends reads to one streaming replica, and decides whether the replica may be read. For this decision the replica is checked several times
// a second, over a connection of its own.

import type { Log } from '../../core/log.ts';
import type { Random } from '../../core/random.ts';
import { CircuitBreaker } from '../../resilience/breaker.ts';
import { DeadlineExceeded } from '../../resilience/deadline.ts';
import { ConnectionLane, laneSizeOf } from '../connection-lane.ts';
import type { Database, PoolState, Statements } from '../port.ts';
import { isAborted, isOutOfReach } from '../port.ts';
import { boolean, integer, nullable, rowDecoder, text } from '../rows.ts';
import type { CheckedServer } from './checked-server.ts';
import { OtherServerError, SERVER } from './checked-server.ts';
import type { PrimaryProgress } from './primary-progress.ts';
import { Rounds } from './rounds.ts';

/** Why a replica is not read. */
export type LeftOut =
  | 'unreachable'
  | 'not compared with its primary'
  | 'not in recovery'
  | 'of another system'
  | 'of another database'
  | 'of a Citus cluster'
  | 'on another timeline'
  | 'not receiving the log'
  | 'recovery conflict'
  | 'too slow'
  | 'behind';

export type ReplicaOptions = {
  /** Such as `main-replica-1`. */
  name: string;
  server: CheckedServer;
  /** The replica as a database for reads. `server` verifies each new connection to it. */
  reads: Database;
  checks: Database;
  primary: PrimaryProgress;
  lagMaxMs: number;
  /** After the loss of the primary, a replica that does not receive the log is read for this long. */
  withoutPrimaryMaxMs: number;
  random: Random;
  log: Log;
};

const PERIOD_MS = 200;
/** The period while a reader waits for the replica to replay a change. */
const WAITED_PERIOD_MS = 20;
const TIMEOUT_MS = 500;
/** If the replay of the log on a replica has cancelled a statement, the replica is not read for this long. */
const CONFLICT_MS = 1_000;
/** The first pause and the longest pause of a replica that is too slow. */
const SLOW_MS = 1_000;
const SLOW_MAX_MS = 30_000;

/** PostgreSQL returns the timeline of the receiver as null to roles that are not members of `pg_read_all_stats`. */
const CHECK = `
  select pg_is_in_recovery() as in_recovery,
    pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text as position,
    (select system_identifier::text from pg_control_system()) as system,
    current_database()::text as database,
    exists (select from pg_extension where extname = 'citus') as is_clustered,
    ${SERVER} as server,
    exists (select from pg_stat_wal_receiver) as receives,
    (select received_tli from pg_stat_wal_receiver) as timeline`;

const decodeCheck = rowDecoder('check', {
  in_recovery: boolean,
  position: nullable(text),
  system: text,
  database: text,
  is_clustered: boolean,
  server: text,
  receives: boolean,
  timeline: nullable(integer),
});
type Check = ReturnType<typeof decodeCheck>;

export class Replica {
  readonly name: string;
  readonly #options: ReplicaOptions;
  readonly #rounds = new Rounds(() => this.#round());
  readonly #lanes = new WeakMap<ConnectionLane, ConnectionLane>();
  /** The result of the latest check. Null if the check failed, or if a statement has failed since the check. */
  #found: Check | null = null;
  #coveredUntil = Number.NEGATIVE_INFINITY;
  #conflictUntil = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  /** The latest time that was passed to `request`. Checks are more frequent until `#coveredUntil` is later than this time. */
  #requested = Number.NEGATIVE_INFINITY;
  #isLoggedLeftOut = false;
  #isLoggedOtherServer = false;
  #isFirstCheck = true;
  /**
   * This breaker opens after several statements that the replica did not complete in time and that the primary completed. Checks do not
   * show that a replica is slow, because they are cheap.
   */
  readonly #slowness: CircuitBreaker;
  /** The duration of the latest check. Null if the check failed. */
  #latencyMs: number | null = null;
  /** The statements that were sent to the replica, and those of them that the primary has repeated. */
  readonly counts = { reads: 0, repeated: 0 };

  constructor(options: ReplicaOptions) {
    this.name = options.name;
    this.#options = options;
    const { random } = options;
    this.#slowness = new CircuitBreaker({
      openMs: SLOW_MS,
      openMaxMs: SLOW_MAX_MS,
      clock: () => performance.now(),
      random,
    });
  }

  /** Why the replica is not read at present. Null if it is read. */
  get leftOut(): LeftOut | null {
    const obstacle = this.#found ? this.#judge(this.#found) : 'unreachable';
    if (obstacle) return obstacle;
    if (performance.now() < this.#conflictUntil) return 'recovery conflict';
    if (this.#isTooSlow) return 'too slow';
    return this.#lag() > this.#options.lagMaxMs ? 'behind' : null;
  }

  get latencyMs(): number | null {
    return this.#latencyMs;
  }

  /**
   * The replica is behind the primary by at most this time. Null if this bound is unknown. If the primary is lost, the replica is compared
   * with the state of the primary at the time of the loss.
   */
  get lagMs(): number | null {
    const lag = this.#lag();
    return Number.isFinite(lag) ? Math.max(0, lag) : null;
  }

  /** Everything that was committed before this time, by `performance.now()`, is on the replica. */
  get coveredUntil(): number {
    return this.#coveredUntil;
  }

  /**
   * Whether the replica may be read, and has everything that was committed before `notBefore`. If the primary is lost, only the first of these
   * two conditions must hold.
   */
  covers(notBefore: number): boolean {
    return (this.#coveredUntil > notBefore || this.#options.primary.isLost) && this.leftOut === null;
  }

  /** Makes the checks more frequent until everything that was committed before `time` is on the replica. */
  request(time: number): void {
    if (time <= this.#requested || this.#coveredUntil > time) return;
    this.#requested = time;
    this.#rounds.wake();
  }

  /**
   * Must be called before a statement is sent to the replica. The first statement after a pause of a slow replica is a trial: no other
   * statement is sent until the result of the trial is reported with `noteSuccess`, `noteFailure` or `noteMissedDeadline`.
   */
  begin(): void {
    this.#slowness.enter();
  }

  within(timeoutMs: number, lane: ConnectionLane): Statements {
    let own = this.#lanes.get(lane);
    if (!own) {
      own = new ConnectionLane(laneSizeOf(this.#options.reads.pool().max));
      this.#lanes.set(lane, own);
    }
    return this.#options.reads.within(timeoutMs, own);
  }

  /**
   * Whether PostgreSQL hides the timeline from the role of the checks. The checks then cannot detect that the replica has not followed
   * a failover.
   */
  get isTimelineHidden(): boolean {
    return this.#found !== null && this.#found.receives && this.#found.timeline === null;
  }

  /** The number of connections in use, and of statements that wait for a connection. */
  get load(): number {
    const { open, idle, waiting } = this.#options.reads.pool();
    return open - idle + waiting;
  }

  pool(): PoolState {
    return this.#options.reads.pool();
  }

  noteSuccess(): void {
    this.#slowness.succeeded();
  }

  /**
   * Must be called when a statement has missed its deadline on the replica. `isCompletedByPrimary`: whether the primary completed the
   * statement when it was repeated there. After several statements in a row that only the primary completed, the replica is left out for a
   * pause.
   */
  noteMissedDeadline({ isCompletedByPrimary }: { isCompletedByPrimary: boolean }): void {
    if (isCompletedByPrimary) this.#slowness.failed();
    else this.#slowness.abandoned();
  }

  /**
   * Must be called when a statement has failed on the replica. If the replica cannot be reached, it is left out until a check succeeds. If
   * the replay of the log has cancelled the statement, the replica is left out for CONFLICT_MS. After a missed deadline, the replica is
   * checked at once, and the caller must also call `noteMissedDeadline`.
   */
  noteFailure(error: unknown): void {
    if (error instanceof DeadlineExceeded) return this.#rounds.wake();
    this.#slowness.abandoned();
    // If the replay of the log has cancelled the statement, the server reports the same error codes as for an aborted transaction.
    if (isAborted(error)) this.#conflictUntil = performance.now() + CONFLICT_MS;
    else if (error instanceof OtherServerError) this.#logOtherServer();
    else if (isOutOfReach(error)) {
      this.#failedAt = performance.now();
      this.#found = null;
      this.#rounds.wake();
    }
  }

  /** Resolves after a complete check that began after this call. */
  async next(): Promise<void> {
    await this.#rounds.next();
  }

  async close(): Promise<void> {
    await this.#rounds.close();
    await Promise.all([this.#options.reads.close(), this.#options.checks.close()]);
  }

  /** Always false while the primary is lost, because a slow response is then better than none. */
  get #isTooSlow(): boolean {
    if (this.#options.primary.isLost || this.#slowness.state() === 'closed') return false;
    return this.#slowness.state() === 'trial' || this.#slowness.remainingMs() > 0;
  }

  #lag(): number {
    return this.#options.primary.comparedUntil - this.#coveredUntil;
  }

  async #round(): Promise<number> {
    const startedAt = performance.now();
    let cause: unknown;
    try {
      const [row] = await this.#options.checks.within(TIMEOUT_MS).query(CHECK);
      if (!row) throw new Error('the replica returned no position');
      const check = decodeCheck(row);
      this.#latencyMs = Math.round(performance.now() - startedAt);
      if (this.#options.server.note(check.server)) {
        this.#options.reads.replaceConnections();
        this.#isLoggedOtherServer = false;
      }
      // A check that began before a statement failed does not show that the replica works again.
      this.#found = startedAt > this.#failedAt ? check : null;
      // After a crash, a replica replays the log from an earlier position. So `#coveredUntil` can also become an earlier time.
      this.#coveredUntil = this.#options.primary.coveredBy(BigInt(check.position ?? 0));
    } catch (error) {
      cause = error;
      this.#latencyMs = null;
      this.#found = null;
    }
    this.#logChange(cause);
    const isWaitedFor = this.#coveredUntil <= this.#requested && startedAt - this.#requested < this.#options.lagMaxMs;
    return isWaitedFor ? WAITED_PERIOD_MS : PERIOD_MS;
  }

  #judge(check: Check): LeftOut | null {
    const { in_recovery: isInRecovery, is_clustered: isClustered, system, database, receives, timeline } = check;
    const { primary, withoutPrimaryMaxMs } = this.#options;
    const { identity } = primary;
    // The rows of a Citus cluster are on its worker nodes. The positions of their logs are not compared.
    if (isClustered) return 'of a Citus cluster';
    if (!identity) return 'not compared with its primary';
    if (system !== identity.system) return 'of another system';
    if (database !== identity.database) return 'of another database';
    if (!isInRecovery) return 'not in recovery';
    if (!receives) return primary.isLost && primary.silentMs < withoutPrimaryMaxMs ? null : 'not receiving the log';
    return timeline !== null && timeline !== identity.timeline ? 'on another timeline' : null;
  }

  #logOtherServer(): void {
    if (this.#isLoggedOtherServer) return;
    this.#isLoggedOtherServer = true;
    this.#options.log.warn('the URL of a replica leads to several servers', { replica: this.name });
  }

  #logChange(error: unknown): void {
    const { log } = this.#options;
    // A replica is often behind at its first check, because the log has advanced just before. This is not logged.
    const reason = this.#isFirstCheck && this.leftOut === 'behind' ? null : this.leftOut;
    this.#isFirstCheck = false;
    if ((reason !== null) === this.#isLoggedLeftOut) return;
    this.#isLoggedLeftOut = reason !== null;
    if (reason === null) log.info('a replica is read again', { replica: this.name });
    else log.warn('a replica is left out', { replica: this.name, reason, ...(error !== undefined && { error }) });
  }
}
