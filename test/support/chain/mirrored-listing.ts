// Turns orders that were signed on a local chain into records of mirrored listings. Creates a service context with a given main database
// and a given indexer database.

import type { Database } from '../../../src/platform/database/port.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import type { SignedOrder } from '../../../devnet/orders.ts';
import { totalOf } from '../../../devnet/orders.ts';
import { Market } from '../../../src/market/reads/market.ts';
import { runImport, toContext, toNdjson } from '../service/intake.ts';
import type { LocalWorld } from './followed-collection.ts';

/** The record that a marketplace's mapper makes of a signed order. `fields` replaces fields of the record. */
export function toListingRecord(world: LocalWorld, { components, hash }: SignedOrder, fields: object = {}): object {
  const [item] = components.offer;
  if (!item) throw new Error('the order offers nothing');
  const { address } = world.protocol.seaport;
  return {
    kind: 'listing',
    source: 'opensea',
    chain: world.chain.id,
    contractAddress: item.token,
    tokenId: item.identifierOrCriteria.toString(),
    id: `opensea_${hash.slice(2, 18)}`,
    orderHash: hash,
    priceRaw: totalOf(components).toString(),
    seller: components.offerer,
    timestamp: new Date(Number(components.startTime) * 1_000).toISOString(),
    expiresAt: new Date(Number(components.endTime) * 1_000).toISOString(),
    operator: address,
    protocolAddress: address,
    counter: components.counter.toString(),
    ...fields,
  };
}

/** A context on two databases. Its default clock is the system clock, so that listings with the times of the local chain are current. */
export function toMirrorContext(
  databases: { main: Database; indexer: Database },
  clock: () => number = () => Date.now(),
): ServiceContext {
  const context = toContext(databases.main, { clock });
  const { config, chains, random, log } = context;
  return { ...context, ...databases, market: new Market({ ...config, ...databases, chains, clock, random, log }) };
}

/** Imports records. Throws if a record is rejected. */
export async function importAll(context: ServiceContext, ...records: unknown[]): Promise<void> {
  const { refused } = await runImport(context, toNdjson(records));
  if (refused.length > 0) throw new Error(JSON.stringify(refused));
}
