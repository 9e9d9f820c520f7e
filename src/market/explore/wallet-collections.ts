// Lists the collections in which a wallet has tokens or listings, with the value of the tokens at the floor, and sums these values by currency.

import type { Chain } from '../../platform/core/chains.ts';
import type { Collection } from '../../platform/core/collection.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { Figure } from '../provenance/figure.ts';
import { isCounted } from '../provenance/figure.ts';
import { toHoldingFigures } from '../provenance/holdings.ts';
import { listHoldingFacts } from '../index/queries/stats.ts';
import { readFloorFacts, toFloorFigures } from '../reads/floors/floor-reads.ts';
import type { Market } from '../reads/market.ts';
import { requireValue, valueOrNull } from '../reads/market-source.ts';
import { listCollectionsByIds } from '../reads/queries/collections.ts';
import type { HeldCollection } from './queries/wallet-collections.ts';
import {
  listEditionCollections,
  listHeldCollections,
  listHeldUnits,
  listMirroredCollections,
  listOrderedCollections,
} from './queries/wallet-collections.ts';
import type { WalletPageQuery } from './wallets.ts';

/**
 * `tokens`: how many tokens the wallet is the recorded holder of; null if none is recorded and not all holders are known. `holders`: where the holders
 * of the collection are known from; null if some are not known, and then the wallet may have more tokens. `units` null: unknown. `listed` null: an
 * order book could not be read. `valueRaw`: the units at the floor.
 */
export type WalletCollection = {
  collection: Collection;
  chain: Chain | null;
  tokens: number | null;
  units: bigint | null;
  listed: number | null;
  holders: Figure<number> | null;
  floor: Figure<bigint | null> | null;
  valueRaw: bigint | null;
};

/** The sum for one currency. `valueRaw` null: the value of no collection is known. `unvalued`: the number of collections without a known value. */
export type WalletTotal = { chain: Chain; valueRaw: bigint | null; collections: number; unvalued: number };

/** `totals`: of all collections of the wallet; null if there are more than `TOTALS_MAX`, or if they cannot be read. */
export type WalletCollectionPage = {
  rows: WalletCollection[];
  next: string | null;
  totals: WalletTotal[] | null;
  degraded: boolean;
};

/** The most collections that are summed. */
export const TOTALS_MAX = 1_000;

/** The collections are sorted by id. Throws `upstream_error` when the indexer cannot be read, and `unavailable` when the records cannot be read. */
export async function listWalletCollections(
  market: Market,
  { account, chain, after, limit }: Omit<WalletPageQuery, 'after'> & { after: string | null },
): Promise<WalletCollectionPage> {
  if (market.custodyWallets.has(account)) return { rows: [], next: null, totals: [], degraded: false };
  const chains = chain ? [chain.id] : [...market.chains.keys()];
  const now = market.clock();
  const query = { account, chains, after, limit: limit + 1, now };
  const readIndexer = market.wallets.withinOneDeadline();
  const readBook = market.exploredOrders.withinOneDeadline();
  const [all, held, mirrored, ordered] = await Promise.all([
    readIndexer((db) => listHeldCollections(db, { ...query, after: null, limit: TOTALS_MAX + 1 })),
    readIndexer((db) => listHeldCollections(db, query)),
    readIndexer((db) => listMirroredCollections(db, query)),
    readBook((db) => listOrderedCollections(db, query)),
  ]);
  const lists = [
    requireValue(held, 'upstream_error'),
    requireValue(mirrored, 'upstream_error'),
    valueOrNull(ordered) ?? [],
  ];
  const found = [...new Set(lists.flat().map(({ collectionId }) => collectionId))].sort();
  const ids = found.slice(0, limit);
  const summed = valueOrNull(all);
  const isSummed = summed !== null && summed.length <= TOTALS_MAX;
  const known = [...new Set([...ids, ...(isSummed ? summed.map(({ collectionId }) => collectionId) : [])])];
  const [records, facts, units] = await Promise.all([
    market.primary.read((db) => listCollectionsByIds(db, ids)),
    readIndexer((db) => listHoldingFacts(db, ids)),
    readBook((db) => readUnits(db, account, known)),
  ]);
  const collections = requireValue(records, 'unavailable').toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const floors = await readFloorFacts(market, collections);
  const holdings = valueOrNull(facts);
  const unitsOf = valueOrNull(units);
  const tokensById = new Map(lists[0]?.map((row) => [row.collectionId, (row as HeldCollection).tokens]));
  const listedIn = (id: string) =>
    ordered.ok ? countIn(valueOrNull(mirrored) ?? [], id) + countIn(ordered.value, id) : null;
  const rows = collections.map((collection): WalletCollection => {
    const { id, snapshot, tokensComplete } = collection;
    const { owners } = toHoldingFigures(holdings?.get(id) ?? null, { snapshot, tokensComplete }, now);
    const holders = isCounted(owners) ? owners : null;
    const tokens = tokensById.get(id) ?? (holders ? 0 : null);
    const held = tokens === null || !unitsOf ? null : unitsOf(id, tokens);
    const { floor } = toFloorFigures(floors, collection, now);
    return {
      collection,
      chain: market.chainOf(collection.chain),
      tokens,
      units: held,
      listed: listedIn(id),
      holders,
      floor,
      valueRaw: toValue(held, floor?.value ?? null),
    };
  });
  return {
    rows,
    next: found.length > ids.length ? (ids.at(-1) ?? null) : null,
    totals: isSummed && unitsOf ? toTotals(market, summed, unitsOf) : null,
    degraded: !all.ok || !ordered.ok || !facts.ok || !units.ok || floors.degraded,
  };
}

function countIn(rows: readonly { collectionId: string; listed: number }[], id: string): number {
  return rows.find(({ collectionId }) => collectionId === id)?.listed ?? 0;
}

type UnitsOf = (collectionId: string, tokens: number) => bigint | null;

/** Each token is one unit, except in an edition, whose units only the log of its chain has. */
async function readUnits(db: Queryable, account: string, ids: readonly string[]): Promise<UnitsOf> {
  const [units, editions] = [await listHeldUnits(db, account, ids), await listEditionCollections(db, ids)];
  return (id, tokens) => units.get(id) ?? (editions.has(id) && tokens > 0 ? null : BigInt(tokens));
}

function toValue(units: bigint | null, floorRaw: bigint | null): bigint | null {
  return units === null || floorRaw === null ? null : units * floorRaw;
}

function toTotals(market: Market, held: readonly HeldCollection[], unitsOf: UnitsOf): WalletTotal[] {
  const totals = new Map<string, WalletTotal>();
  for (const { collectionId, chain: chainId, tokens, floorRaw } of held) {
    const chain = market.chainOf(chainId);
    if (!chain) continue;
    const key = `${chain.symbol} ${chain.decimals}`;
    const total = totals.get(key) ?? { chain, valueRaw: null, collections: 0, unvalued: 0 };
    const value = toValue(unitsOf(collectionId, tokens), floorRaw);
    total.collections += 1;
    if (value === null) total.unvalued += 1;
    else total.valueRaw = (total.valueRaw ?? 0n) + value;
    totals.set(key, total);
  }
  return [...totals.values()].sort((a, b) => (a.chain.symbol < b.chain.symbol ? -1 : 1));
}
