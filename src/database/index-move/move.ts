// Moves the index to another database while the service runs (docs/decisions/moving-the-index.md). A move that was stopped anywhere
// continues when it is started again.

import { OperatorError } from '../../core/errors.ts';
import { listAppliedMigrations, listSequences, setExactText, updateSequence } from '../backup/catalogue.ts';
import type { Queryable } from '../port.ts';
import { integer, rowDecoder } from '../rows.ts';
import type { BegunMove, MoveSides } from './begin.ts';
import { beginMove } from './begin.ts';
import { closeSource, renewSeal, sealSource, unsealSource } from './capture.ts';
import { compareRecorded, compareTable, exactly } from './compare.ts';
import { copyTable, countRowsOfTables } from './copy.ts';
import { replayChanges, replaySnapshot, settle } from './replay.ts';
import { MoveReplaced, findMoveState, updateComplete } from './state.ts';
import { createDefinitions } from './target.ts';

export const MOVE_STAGES = [
  'preparing',
  'copying',
  'indexing',
  'following',
  'comparing',
  'sealed',
  'completing',
] as const;

/** `rows` of about `total` rows are done in this stage. `total` is null if it is unknown. */
export type MoveProgress = { stage: (typeof MOVE_STAGES)[number]; detail: string; rows: number; total: number | null };

/**
 * `rows`: the rows of each table when all of them were compared. `sealedMs`: how long the source has rejected changes before the target had
 * every row.
 */
export type MoveResult = { rows: number; tables: Readonly<Record<string, number>>; sealedMs: number; seconds: number };

export type MoveOptions = { signal: AbortSignal; onProgress: (progress: MoveProgress) => void };

/** The source rejects changes for at most this long after the last renewal. */
const SEAL_LEASE_MS = 30_000;
const SEAL_RENEWAL_MS = 5_000;
/** The source is sealed when so few changes are left, or when a round of copying them leaves more than this share of the round before. */
const CHANGES_AT_SEAL_MAX = 1_000;
const PROGRESS_MIN = 0.7;
const CHANGES_UNFOLLOWED_MAX = 50_000;

/** Throws an OperatorError that says what failed. The source is then as before, except that it still records changes. */
export async function moveIndex(sides: MoveSides, options: MoveOptions): Promise<MoveResult> {
  const startedAt = performance.now();
  options.onProgress({ stage: 'preparing', detail: '', rows: 0, total: null });
  const begun = await beginMove(sides);
  const move = new Move(sides, begun, options);
  const { tables, sealedMs } = begun.isMoved ? await move.complete() : await move.run();
  const seconds = Math.round(performance.now() - startedAt) / 1_000;
  return { rows: sumOf(tables), tables, sealedMs, seconds };
}

const sumOf = (rows: Readonly<Record<string, number>>) => Object.values(rows).reduce((sum, one) => sum + one, 0);

type Outcome = Pick<MoveResult, 'tables' | 'sealedMs'>;

class Move {
  readonly #sides: MoveSides;
  readonly #begun: BegunMove;
  readonly #options: MoveOptions;
  #compared: Record<string, number> = {};
  #sealedAt = 0;
  #renewedAt = 0;

  constructor(sides: MoveSides, begun: BegunMove, options: MoveOptions) {
    this.#sides = sides;
    this.#begun = begun;
    this.#options = options;
  }

  async run(): Promise<Outcome> {
    const { source } = this.#sides;
    const { state } = this.#begun;
    try {
      await this.#copy();
      await this.#createIndexes();
      await this.#follow({ keepsRecords: false });
      if (source.engine === 'postgresql') await this.#compareSnapshot();
      await this.#follow({ keepsRecords: true });
      await this.#seal();
    } catch (error) {
      const now = await findMoveState(source).catch(() => state);
      if (now?.runner !== state.runner) throw new MoveReplaced();
      throw error;
    }
    return this.complete();
  }

  /** The last steps, after which nodes may use the target. */
  async complete(): Promise<Outcome> {
    const { target } = this.#sides;
    const { state } = this.#begun;
    const sealedMs = this.#sealedAt === 0 ? 0 : Math.round(performance.now() - this.#sealedAt);
    await target.transaction((tx) => updateComplete(tx, state));
    // The rows were compared, so this only records that they refer to existing rows.
    const onName = (detail: string) => this.#options.onProgress({ stage: 'completing', detail, rows: 0, total: null });
    await createDefinitions(target, state, { kind: 'unvalidated', onName });
    return { tables: this.#compared, sealedMs };
  }

  #report(progress: MoveProgress): void {
    this.#options.signal.throwIfAborted();
    this.#options.onProgress(progress);
  }

  async #copy(): Promise<void> {
    const { source, target } = this.#sides;
    const { tables, state } = this.#begun;
    let rows = 0;
    const total = sumOf(await countRowsOfTables(source, tables));
    for (const table of tables) {
      const onRows = (copied: number) => {
        rows += copied;
        this.#report({ stage: 'copying', detail: table.name, rows, total });
      };
      onRows(0);
      await copyTable({ source, target, state }, table, onRows);
    }
  }

  async #createIndexes(): Promise<void> {
    const { target } = this.#sides;
    const onName = (detail: string) => this.#report({ stage: 'indexing', detail, rows: 0, total: null });
    await createDefinitions(target, this.#begun.state, { kind: 'index', onName });
    for (const { sql } of this.#begun.tables) {
      await target.transaction(async (tx) => {
        await tx.query(`set local statement_timeout = 0`);
        await tx.query(`analyze ${sql}`);
      });
    }
  }

  /** Copies recorded changes until few are left. */
  async #follow(options: { keepsRecords: boolean }): Promise<void> {
    const context = { ...this.#sides, ...this.#begun };
    let left = await this.#countChanges();
    for (;;) {
      let rows = 0;
      this.#report({ stage: 'following', detail: 'changes', rows, total: left });
      while (rows < left) {
        const copied = await replayChanges(context, options);
        if (copied === 0) break;
        rows += copied;
        this.#report({ stage: 'following', detail: 'changes', rows, total: left });
      }
      const before = left;
      left = await this.#countChanges();
      if (left <= CHANGES_AT_SEAL_MAX) return;
      if (left < before * PROGRESS_MIN) continue;
      if (left <= CHANGES_UNFOLLOWED_MAX) return;
      throw new OperatorError(
        'the index changes faster than its changes can be copied: stop imports, then repeat the command',
      );
    }
  }

  async #countChanges(): Promise<number> {
    const [row] = await this.#sides.source.query(
      `select count(*)::int as changes from index_move.change where not applied`,
    );
    return row ? decodeChanges(row).changes : 0;
  }

  /** Compares all rows with a snapshot of the source, while other statements change the source. */
  async #compareSnapshot(): Promise<void> {
    const { source, target } = this.#sides;
    // The snapshot proves also what an earlier process has copied.
    await source.query(`delete from index_move.change where applied`);
    const seqs = await source.transaction(async (tx) => {
      await tx.query(`set transaction isolation level repeatable read read only`);
      await setExactText(tx);
      const replayed = await replaySnapshot(tx, { target, ...this.#begun });
      await this.#compareTables(tx, 'comparing');
      return replayed;
    });
    await settle(source, seqs, { keepsRecords: false });
  }

  async #compareTables(source: Queryable, stage: MoveProgress['stage']): Promise<void> {
    const { engine } = this.#sides.source;
    let rows = 0;
    for (const table of this.#begun.tables) {
      const onPart = async (compared: number) => {
        rows += compared;
        this.#report({ stage, detail: table.name, rows, total: null });
        await this.#keepSealed();
      };
      this.#compared[table.name] = await compareTable({ source, target: this.#sides.target }, table, {
        engine,
        onPart,
      });
    }
  }

  /** Stops changes, copies the last of them, compares what was not compared yet, and closes the source. */
  async #seal(): Promise<void> {
    const { source, target } = this.#sides;
    const { state } = this.#begun;
    const context = { ...this.#sides, ...this.#begun };
    this.#report({ stage: 'sealed', detail: 'the last changes', rows: 0, total: null });
    await sealSource(source, state, SEAL_LEASE_MS);
    this.#sealedAt = this.#renewedAt = performance.now();
    try {
      while ((await replayChanges(context, { keepsRecords: true })) > 0) await this.#keepSealed();
      await this.#checkMigrations();
      if (source.engine === 'embedded') await this.#compareEmbedded();
      else await this.#compareChanges();
      await target.transaction(async (tx) => {
        for (const sequence of await listSequences(source, 'indexer')) await updateSequence(tx, sequence);
      });
      await createDefinitions(target, state, { kind: 'foreign-key', onName: () => undefined });
      this.#options.signal.throwIfAborted();
      await closeSource(source, state);
    } catch (error) {
      // If this fails too, the seal ends by itself.
      await unsealSource(source, state).catch(() => undefined);
      throw error;
    }
  }

  /** Each part is a transaction of its own, so that reads of the service run between them. */
  async #compareEmbedded(): Promise<void> {
    const { source } = this.#sides;
    const parts: Queryable = { query: (sql, params) => exactly(source, (tx) => tx.query(sql, params)) };
    await this.#compareTables(parts, 'sealed');
  }

  async #compareChanges(): Promise<void> {
    const { source, target } = this.#sides;
    const onPart = async (rows: number) => {
      this.#report({ stage: 'sealed', detail: 'comparing the last changes', rows, total: null });
      await this.#keepSealed();
    };
    for (const table of this.#begun.tables) {
      await exactly(source, (tx) => compareRecorded({ source: tx, target }, table, { onPart }));
    }
  }

  async #checkMigrations(): Promise<void> {
    const { source, target } = this.#sides;
    const [here, there] = [
      await listAppliedMigrations(source, 'indexer'),
      await listAppliedMigrations(target, 'indexer'),
    ];
    if (JSON.stringify(here) === JSON.stringify(there)) return;
    throw new OperatorError(
      'the schema of the index has changed during the move: mercat move-index --abandon, then start again',
    );
  }

  async #keepSealed(): Promise<void> {
    if (this.#sealedAt === 0 || performance.now() - this.#renewedAt < SEAL_RENEWAL_MS) return;
    this.#renewedAt = performance.now();
    await renewSeal(this.#sides.source, this.#begun.state, SEAL_LEASE_MS);
  }
}

const decodeChanges = rowDecoder('index_move.change', { changes: integer });
