// Copies the records of collections, and which assets the own order book lists, from the primary database to the indexer database. The
// transaction that changes a record or an own order notes the change in `main.catalog_change`. A copy reads the current state, writes it,
// and then deletes the noted changes. A copy that is interrupted is repeated.

import type { Chains } from '../../platform/core/chains.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';
import type { Database, Queryable, Statements } from '../../platform/database/port.ts';
import { Source } from '../../platform/resilience/source.ts';
import type { CatalogEntry, OwnAsset } from './queries/catalog.ts';
import {
  deleteCatalogChanges,
  listCatalogChanges,
  listCatalogEntries,
  listOwnAssets,
  lockCatalog,
  updateOwnAssets,
  updateOwnFigures,
} from './queries/catalog.ts';
import type { RefreshContext } from './change-index.ts';
import { changeIndex } from './change-index.ts';

export type CatalogContext = { main: Database; indexer: Database; chains: Chains; clock: Clock };

const BATCH_SIZE = 1_000;
/** The most transactions of a copy that follows a commit. If changes remain, the task `catalog` copies them. */
const BATCHES_AFTER_COMMIT = 4;
/** How long a caller waits for the copy after its commit. */
const PATIENCE_MS = 1_000;
/** On the embedded engine, which has one connection, a caller waits this many times as long. */
const EMBEDDED_PATIENCE = 5;

/**
 * Copies changes until none is left, in at most `batchesMax` transactions. Each transaction has the deadline `timeoutMs`. Returns how many
 * changes were copied.
 */
export async function copyCatalog(
  context: CatalogContext,
  { timeoutMs, batchesMax, signal }: { timeoutMs: number; batchesMax: number; signal?: AbortSignal },
): Promise<number> {
  let total = 0;
  for (let batches = 0; batches < batchesMax; batches += 1) {
    signal?.throwIfAborted();
    const main = context.main.within(timeoutMs);
    const indexer = context.indexer === context.main ? null : context.indexer.within(timeoutMs);
    const copied = await copyBatch({ ...context, main, indexer });
    total += copied;
    if (copied < BATCH_SIZE) break;
  }
  return total;
}

type BatchContext = Omit<CatalogContext, 'main' | 'indexer'> & { main: Statements; indexer: Statements | null };

/**
 * If both schemas are in one database, `indexer` is null, and one transaction reads and writes. Otherwise the copy is committed in the
 * indexer database before the copied changes are deleted in the primary. The lock in the primary lasts until the changes are deleted, so an
 * older state never replaces a newer state.
 */
async function copyBatch({ main, indexer, chains, clock }: BatchContext): Promise<number> {
  return main.transaction(async (tx) => {
    await lockCatalog(tx);
    const changes = await listCatalogChanges(tx, BATCH_SIZE);
    if (changes.length === 0) return 0;
    const ids = new Set(changes.map(({ collectionId }) => collectionId));
    const named = new Map<string, { collectionId: string; asset: string }>();
    for (const { collectionId, asset } of changes) {
      if (asset !== null) named.set(JSON.stringify([collectionId, asset]), { collectionId, asset });
    }
    const entries = await listCatalogEntries(tx, [...ids]);
    const assets = await listOwnAssets(tx, [...named.values()]);
    const write = (to: Queryable) => writeCatalog(to, { entries, assets }, { chains, now: clock() });
    await (indexer ? indexer.transaction(write) : write(tx));
    await deleteCatalogChanges(tx, changes);
    return changes.length;
  });
}

async function writeCatalog(
  tx: Queryable,
  { entries, assets }: { entries: readonly CatalogEntry[]; assets: readonly OwnAsset[] },
  refresh: RefreshContext,
): Promise<void> {
  const collectionIds = entries.map(({ collectionId }) => collectionId);
  await changeIndex(tx, { collectionIds, refresh }, async () => {
    await updateOwnFigures(tx, entries);
    await updateOwnAssets(tx, assets);
    return { assets };
  });
}

/** Makes the copies that follow a commit. All callers that come while a copy runs share the next copy. */
export class Catalog {
  readonly #context: CatalogContext;
  readonly #source: Source;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(context: CatalogContext & { log: Log; random: Random }) {
    this.#context = context;
    const timeoutMs = PATIENCE_MS * (context.main.engine === 'embedded' ? EMBEDDED_PATIENCE : 1);
    this.#source = new Source({ ...context, name: 'catalog', timeoutMs });
  }

  /**
   * Copies the changes that were committed before the call. Never rejects, and waits for a short time only. If the indexer database fails,
   * the task `catalog` copies the changes later.
   */
  copy(): Promise<void> {
    if (!this.#running) return this.#start();
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      return this.#start();
    });
    return this.#next;
  }

  close(): void {
    this.#source.close();
  }

  #start(): Promise<void> {
    const run = this.#source
      .read((timeoutMs) => copyCatalog(this.#context, { timeoutMs, batchesMax: BATCHES_AFTER_COMMIT }))
      .then(() => {
        if (this.#running === run) this.#running = null;
      });
    this.#running = run;
    return run;
  }
}
