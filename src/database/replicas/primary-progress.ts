// Repeatedly notes the position at which the log of a primary ends. A note has this position, and the time at which the read of the position
// began. A replica that has replayed the log up to the position of a note has everything that was committed before the time of the note.

import { DeadlineExceeded } from '../../resilience/deadline.ts';
import type { Database } from '../port.ts';
import { isOutOfReach } from '../port.ts';
import { integer, rowDecoder, text } from '../rows.ts';
import { Rounds } from './rounds.ts';

/** The values that identify a primary. Its replicas have the same values. */
export type PrimaryIdentity = { system: string; database: string; timeline: number };

/** `at`: a time by `performance.now()`. `position`: bytes of the log. */
type Note = { at: number; position: bigint };

const PERIOD_MS = 200;
const PERIOD_AFTER_FAILURE_MS = 50;
const TIMEOUT_MS = 2_000;
/** If a note fails later than TIMEOUT_MS plus this time, this process was delayed. The failure then says nothing about the primary. */
const STALL_MS = 250;
/** After this number of failed notes in a row, the primary counts as lost, unless the last note failed because of its time limit. */
const FAILURES_OF_LOSS = 2;
/** A primary whose last note failed because of its time limit counts as lost if it has not responded for this long. */
const SILENCE_OF_LOSS_MS = 5_000;
/** When there are more notes than this, every second note of the older half is dropped. */
const NOTES_MAX = 200;

/**
 * With `synchronous_commit` off, a commit is acknowledged before the log is flushed. The note then has the position of the last inserted
 * record, which may belong to a transaction that still runs.
 */
const NOTE = `
  select pg_wal_lsn_diff(
      case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end,
      '0/0')::text as position,
    (select system_identifier::text from pg_control_system()) as system,
    current_database()::text as database,
    ('x' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8))::bit(32)::int as timeline`;

const decodeNote = rowDecoder('note', { position: text, system: text, database: text, timeline: integer });

export class PrimaryProgress {
  readonly #db: Pick<Database, 'within'>;
  readonly #keptMs: number;
  readonly #respondedAt: () => number;
  readonly #rounds = new Rounds(() => this.#round());
  #notes: Note[] = [];
  #identity: PrimaryIdentity | null = null;
  #failures = 0;
  /** Whether the last note failed because of its time limit. */
  #isSilent = false;
  #notedAt = Number.NEGATIVE_INFINITY;

  /**
   * `db` must have a connection of its own, so that a busy pool does not look like a lost primary. Notes are kept for `keptMs`. `respondedAt`:
   * when another connection of this process most recently got a response, by `performance.now()`.
   */
  constructor(db: Pick<Database, 'within'>, { keptMs, respondedAt }: { keptMs: number; respondedAt: () => number }) {
    this.#db = db;
    this.#keptMs = keptMs;
    this.#respondedAt = respondedAt;
  }

  /** Null until the first note. */
  get identity(): PrimaryIdentity | null {
    return this.#identity;
  }

  /**
   * Whether the primary cannot be reached. A primary that does not respond in time may only be busy. It then still accepts writes, which a
   * replica may lack.
   */
  get isLost(): boolean {
    if (this.#failures < FAILURES_OF_LOSS) return false;
    const respondedAt = Math.max(this.#notedAt, this.#respondedAt());
    return !this.#isSilent || performance.now() - respondedAt > SILENCE_OF_LOSS_MS;
  }

  /** How long ago a note last succeeded. */
  get silentMs(): number {
    return performance.now() - this.#notedAt;
  }

  /** The time up to which replicas can be compared with the primary: now, or the time of the last note if the primary is lost. */
  get comparedUntil(): number {
    return this.isLost ? (this.#notes.at(-1)?.at ?? Number.NEGATIVE_INFINITY) : performance.now();
  }

  /** Returns a time. A server that has replayed the log up to `position` has everything that was committed before this time. */
  coveredBy(position: bigint): number {
    return this.#notes.findLast((note) => note.position <= position)?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** Makes a note soon if there is none after `time`. */
  request(time: number): void {
    if ((this.#notes.at(-1)?.at ?? 0) <= time && !this.isLost) this.#rounds.wake();
  }

  /** Attempts a note. Resolves when the attempt has ended. An attempt that was already in progress does not count. */
  async next(): Promise<void> {
    await this.#rounds.next();
  }

  /** Whether the primary cannot be reached. Attempts up to `FAILURES_OF_LOSS` notes, until one succeeds or the primary counts as lost. */
  async confirmLoss(): Promise<boolean> {
    for (let attempt = 0; attempt < FAILURES_OF_LOSS && !this.isLost; attempt += 1) {
      await this.next();
      if (this.#failures === 0) return false;
    }
    return this.isLost;
  }

  async close(): Promise<void> {
    await this.#rounds.close();
  }

  async #round(): Promise<number> {
    const at = performance.now();
    try {
      const [row] = await this.#db.within(TIMEOUT_MS).query(NOTE);
      if (!row) throw new Error('the primary returned no position');
      const { position, ...identity } = decodeNote(row);
      this.#add({ at, position: BigInt(position) });
      this.#identity = identity;
      this.#failures = 0;
      this.#notedAt = performance.now();
    } catch (error) {
      // The failure is not logged here: if the primary cannot be reached, requests fail too and log the reason. If this process was suspended
      // meanwhile, the failure says nothing about the primary.
      if (!isLoss(error) || performance.now() - at > TIMEOUT_MS + STALL_MS) return PERIOD_MS;
      this.#failures += 1;
      this.#isSilent = error instanceof DeadlineExceeded;
    }
    return this.#failures > 0 && !this.isLost ? PERIOD_AFTER_FAILURE_MS : PERIOD_MS;
  }

  #add(note: Note): void {
    const last = this.#notes.at(-1);
    // The log is shorter than before, so a replica that was behind has become the primary. The earlier notes do not belong to its log.
    if (last && last.position > note.position) this.#notes = [];
    this.#notes.push(note);
    const oldest = this.#notes.findIndex(({ at }) => at >= note.at - this.#keptMs);
    if (oldest > 0) this.#notes.splice(0, oldest);
    if (this.#notes.length > NOTES_MAX)
      this.#notes = this.#notes.filter((_, index) => index >= NOTES_MAX / 2 || index % 2 === 0);
  }
}

const TOO_MANY_CONNECTIONS = '53300';

/** A primary that rejects a connection because too many are open is not lost: it still accepts writes. */
function isLoss(error: unknown): boolean {
  return isOutOfReach(error) && (error as { code?: unknown }).code !== TOO_MANY_CONNECTIONS;
}
