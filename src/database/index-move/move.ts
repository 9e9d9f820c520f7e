// Moves the index, which is the data of the schema `indexer`, to another database while the service runs (docs/decisions/moving-the-index.md).
// A move that was stopped anywhere continues when it is started again.

import { OperatorError, describeError } from '../../core/errors.ts';
import { listAppliedMigrations, listSequences, setExactText, updateSequence } from '../backup/catalogue.ts';
import type { Queryable } from '../port.ts';
import { integer, rowDecoder } from '../rows.ts';
import type { BegunMove, MoveSides } from './begin.ts';
import { beginMove } from './begin.ts';
import { closeSource, renewSeal, sealSource, unsealSource } from './capture.ts';
import { compareChanges, compareTable, exactly } from './compare.ts';
import { copyTable, countRowsOfTables } from './copy.ts';
import type { ReplayContext } from './replay.ts';
import { SNAPSHOT, deleteRecords, replayChanges, replaySnapshot } from './replay.ts';
import { CHANGES_SEALED_MAX, repeatUntilFew } from './rounds.ts';
import { MoveReplaced, findMoveState } from './state.ts';
import { completeTarget, createDefinitions } from './target.ts';

export const MOVE_STAGES = [
  'preparing',
  'copying',
  'indexing',
  'following',
  'comparing',
  'catching-up',
  'sealed',
  'completing',
] as const;

/** `rows` of about `total` rows are done in this stage. `total` is null if it is unknown. */
export type MoveProgress = { stage: (typeof MOVE_STAGES)[number]; detail: string; rows: number; total: number | null };

/**
 * `tables`: the number of rows of each table when all rows were compared. `sealedMs`: how long the source rejected changes before the target
 * had every row. `sealedChanges`: how many changes were copied in this time.
 */
export type MoveResult = {
  rows: number;
  tables: Readonly<Record<string, number>>;
  sealedMs: number;
  sealedChanges: number;
  seconds: number;
};

export type MoveOptions = { signal: AbortSignal; onProgress: (progress: MoveProgress) => void };

/** A sealed source rejects changes. A seal ends this long after its last renewal. */
const SEAL_LEASE_MS = 30_000;
const SEAL_RENEWAL_MS = 5_000;
/** A sealed source with more than CHANGES_SEALED_MAX changes that are not copied is opened again, at most this many times. */
const SEALS_MAX = 5;

/**
 * Throws an OperatorError that says what failed. If the source is not closed yet, the source is then as before, except that it still records
 * changes.
 */
export async function moveIndex(sides: MoveSides, options: MoveOptions): Promise<MoveResult> {
  const startedAt = performance.now();
  options.onProgress({ stage: 'preparing', detail: '', rows: 0, total: null });
  const begun = await beginMove(sides);
  const move = new Move(sides, begun, options);
  if (!begun.isMoved) await move.run();
  const outcome = await move.complete();
  const seconds = Math.round(performance.now() - startedAt) / 1_000;
  return { rows: sumOf(outcome.tables), ...outcome, seconds };
}

const sumOf = (rows: Readonly<Record<string, number>>) => Object.values(rows).reduce((sum, one) => sum + one, 0);

type Outcome = Pick<MoveResult, 'tables' | 'sealedMs' | 'sealedChanges'>;

class Move {
  readonly #sides: MoveSides;
  readonly #begun: BegunMove;
  readonly #options: MoveOptions;
  #compared: Record<string, number> = {};
  #sealedChanges = 0;
  #isClosing = false;
  #sealedAt = 0;
  #renewedAt = 0;

  constructor(sides: MoveSides, begun: BegunMove, options: MoveOptions) {
    this.#sides = sides;
    this.#begun = begun;
    this.#options = options;
  }

  /** Everything up to the commit that closes the source. */
  async run(): Promise<void> {
    const { source } = this.#sides;
    try {
      await this.#copy();
      await this.#createIndexes();
      await this.#follow();
      if (source.engine === 'postgresql') {
        await this.#compareSnapshot();
        await this.#catchUp();
      }
      await this.#seal();
    } catch (error) {
      await this.#handleFailure(error);
    }
  }

  /**
   * If the source is closed, returns: only the response to the closing commit was lost, and the move can be completed. If the source is not
   * closed, throws.
   */
  async #handleFailure(failure: unknown): Promise<void> {
    const { id, runner } = this.#begun.state;
    const now = await findMoveState(this.#sides.source).catch(() => undefined);
    if (now === undefined) {
      if (!this.#isClosing) throw failure;
      throw new OperatorError(
        `it is not known whether the old index is closed, because the connection to it was lost (${describeError(failure)}): ` +
          'repeat the command, which completes or continues the move',
        { cause: failure },
      );
    }
    if (now?.id !== id || now.runner !== runner) throw new MoveReplaced();
    if (now.phase !== 'moved') throw failure;
  }

  /** Runs the last steps. Nodes may use the target after the first of these steps. */
  async complete(): Promise<Outcome> {
    const { target } = this.#sides;
    const { state } = this.#begun;
    const sealedMs = this.#sealedAt === 0 ? 0 : Math.round(performance.now() - this.#sealedAt);
    try {
      await target.transaction((tx) => completeTarget(tx, state));
      // Nodes may use the target before the foreign keys are validated: the rows are those of the source, where the keys were valid.
      const onName = (detail: string) =>
        this.#options.onProgress({ stage: 'completing', detail, rows: 0, total: null });
      await createDefinitions(target, state, { kind: 'unvalidated', onName });
    } catch (error) {
      if (error instanceof MoveReplaced) throw error;
      throw new OperatorError(
        `the old index is closed, but the last steps on the new database failed (${describeError(error)}): ` +
          'repeat the command to complete the move',
        { cause: error },
      );
    }
    return { tables: this.#compared, sealedMs, sealedChanges: this.#sealedChanges };
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
  async #follow(): Promise<void> {
    await repeatUntilFew(
      () => this.#countChanges(),
      async (left) => {
        const progress = { stage: 'following', detail: 'changes', total: left } as const;
        let rows = 0;
        this.#report({ ...progress, rows });
        while (rows < left) {
          const copied = await replayChanges(this.#context());
          if (copied === 0) break;
          rows += copied;
          this.#report({ ...progress, rows });
        }
      },
    );
  }

  /**
   * Copies and compares the changes that were made since all rows were compared. Works in rounds until few changes are left. Each round reads a
   * new snapshot of the source.
   */
  async #catchUp(): Promise<void> {
    await repeatUntilFew(
      () => this.#countChanges(),
      async (left) => {
        this.#report({ stage: 'catching-up', detail: 'changes', rows: 0, total: left });
        await this.#proveChanges('catching-up', left);
      },
    );
  }

  #context(): ReplayContext {
    return { ...this.#sides, ...this.#begun };
  }

  async #countChanges(): Promise<number> {
    const [row] = await this.#sides.source.query(`select count(*)::int as changes from index_move.change`);
    return row ? decodeChanges(row).changes : 0;
  }

  /** Compares all rows with a snapshot of the source, while other statements change the source. */
  async #compareSnapshot(): Promise<void> {
    await this.#inSnapshot('comparing', (tx) => this.#compareTables(tx, 'comparing'));
  }

  /** Copies the changes that are recorded now, and compares the rows that they name. All other rows were compared before. */
  async #proveChanges(stage: MoveProgress['stage'], total: number | null): Promise<void> {
    let rows = 0;
    const onPart = async (changes: number) => {
      rows += changes;
      this.#report({ stage, detail: 'comparing changes', rows, total });
      await this.#keepSealed();
    };
    const { target } = this.#sides;
    await this.#inSnapshot(stage, (tx) => compareChanges({ source: tx, target }, this.#begun.tables, { onPart }));
  }

  /**
   * Copies the recorded changes of a snapshot of the source, so that the target has the rows of the snapshot. Then compares the target with the
   * snapshot, and removes the records of the copied changes.
   */
  async #inSnapshot(stage: MoveProgress['stage'], compare: (tx: Queryable) => Promise<void>): Promise<void> {
    const { source } = this.#sides;
    let rows = 0;
    const onPart = async (changes: number) => {
      rows += changes;
      this.#report({ stage, detail: 'copying changes', rows, total: null });
      await this.#keepSealed();
    };
    const seqs = await source.transaction(async (tx) => {
      await tx.query(SNAPSHOT);
      await setExactText(tx);
      const replayed = await replaySnapshot(tx, this.#context(), { onPart });
      await compare(tx);
      return replayed;
    });
    await deleteRecords(source, seqs);
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
    try {
      await this.#sealWithFewChanges();
      if (source.engine === 'embedded') await this.#compareEmbedded();
      else await this.#proveChanges('sealed', this.#sealedChanges);
      await this.#checkMigrations();
      await target.transaction(async (tx) => {
        for (const sequence of await listSequences(source, 'indexer')) await updateSequence(tx, sequence);
      });
      await createDefinitions(target, state, { kind: 'foreign-key', onName: () => undefined });
      this.#options.signal.throwIfAborted();
      this.#isClosing = true;
      await closeSource(source, state);
    } catch (error) {
      // If this fails too, the seal ends by itself.
      await unsealSource(source, state).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Seals the source. If too many changes were recorded while the seal waited for writing transactions, opens the source again and copies
   * them.
   */
  async #sealWithFewChanges(): Promise<void> {
    const { source } = this.#sides;
    const { state } = this.#begun;
    for (let seals = 1; ; seals += 1) {
      this.#report({ stage: 'sealed', detail: 'the last changes', rows: 0, total: null });
      await sealSource(source, state, { leaseMs: SEAL_LEASE_MS, signal: this.#options.signal });
      this.#sealedAt = this.#renewedAt = performance.now();
      this.#sealedChanges = await this.#countChanges();
      if (this.#sealedChanges <= CHANGES_SEALED_MAX) return;
      await unsealSource(source, state);
      this.#sealedAt = 0;
      if (seals === SEALS_MAX) {
        throw new OperatorError(
          'too many changes are made before the old index can be closed: stop imports, then repeat the command',
        );
      }
      await (source.engine === 'embedded' ? this.#follow() : this.#catchUp());
    }
  }

  /**
   * Copies the last changes and compares all rows. Each part is a transaction of its own, so that reads of the service run between the
   * parts.
   */
  async #compareEmbedded(): Promise<void> {
    const { source } = this.#sides;
    while ((await replayChanges(this.#context())) > 0) await this.#keepSealed();
    const parts: Queryable = { query: (sql, params) => exactly(source, (tx) => tx.query(sql, params)) };
    await this.#compareTables(parts, 'sealed');
  }

  async #checkMigrations(): Promise<void> {
    const { source, target } = this.#sides;
    const [here, there] = [
      await listAppliedMigrations(source, 'indexer'),
      await listAppliedMigrations(target, 'indexer'),
    ];
    if (JSON.stringify(here) === JSON.stringify(there)) return;
    throw new OperatorError(
      'the schema of the index has changed during the move: run mercat move-index --abandon, then start again',
    );
  }

  async #keepSealed(): Promise<void> {
    if (this.#sealedAt === 0 || performance.now() - this.#renewedAt < SEAL_RENEWAL_MS) return;
    this.#renewedAt = performance.now();
    await renewSeal(this.#sides.source, this.#begun.state, SEAL_LEASE_MS);
  }
}

const decodeChanges = rowDecoder('index_move.change', { changes: integer });
