// Computes the digest of a chain: one SHA-256 over all rows about this chain that the service serves, as of a block. Two services have the
// same digest if they follow the same chain and imported the same records. Their databases, endpoints and restarts make no difference.

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChainCursor } from '../../../market/chain-log/queries/chain-cursors.ts';
import { findChainCursor } from '../../../market/chain-log/queries/chain-cursors.ts';
import { findLastSeq } from '../../../market/chain-log/queries/chain-events.ts';
import type { Database, Queryable } from '../../../platform/database/port.ts';
import type { Sides } from '../../../platform/database/snapshot.ts';
import { readTogether } from '../../../platform/database/snapshot.ts';
import type { JudgedListing } from '../../../market/index/listing-judgement.ts';
import { deriveListingState } from '../../../market/index/listing-judgement.ts';
import { listListingsExpiredSince } from '../../../market/index/queries/judged-listings.ts';
import { listEvidence, listOrdersWithEvidence } from '../../../market/orders/queries/order-evidence.ts';
import { deriveOrderStatus } from '../../../market/orders/status.ts';
import { findProjectedPosition } from '../queries/projection.ts';
import type { DerivedDormancy, DigestPart } from './queries/digest-rows.ts';
import { hasPendingListings, listExpiredSince, readDigestLines } from './queries/digest-rows.ts';

export type ChainDigest = {
  chain: string;
  /** The last block that the service has read. */
  block: number;
  /** The hash of that block. */
  hash: string;
  digest: string;
  rows: Record<DigestPart, number>;
};

/** The most attempts. An attempt fails while the indexer is behind the chain log, and while listings wait to be judged. */
const ATTEMPTS_MAX = 100;
const PAUSE_MS = 100;

/** Null when the chain was never read, or when all attempts failed. */
export async function digestChain(
  databases: { main: Database; indexer: Database },
  chain: string,
  { pauseMs = PAUSE_MS }: { pauseMs?: number } = {},
): Promise<ChainDigest | null> {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
    if (attempts > 0) await delay(pauseMs);
    const outcome = await readTogether(databases, async (sides) => {
      const cursor = await findChainCursor(sides.main, chain);
      if (!cursor) return 'never read';
      return (await isProjected(sides, chain)) ? digestAt(sides, cursor) : null;
    });
    if (outcome) return outcome === 'never read' ? null : outcome;
  }
  return null;
}

async function isProjected({ main, indexer }: Sides, chain: string): Promise<boolean> {
  if (await hasPendingListings(indexer, chain)) return false;
  return (await findProjectedPosition(indexer, chain)).seq >= (await findLastSeq(main, chain));
}

async function digestAt(sides: Sides, { chain, number, hash, time }: ChainCursor): Promise<ChainDigest> {
  const rows: ChainDigest['rows'] = { listings: 0, owners: 0, sales: 0, hours: 0 };
  const digest = createHash('sha256');
  const derived = [
    ...(await deriveOrdersExpiredSince(sides.main, chain, time)),
    ...(await deriveListingsExpiredSince(sides, chain, time)),
  ];
  for await (const { part, lines } of readDigestLines(sides, chain, { blockTime: time, derived })) {
    rows[part] += lines.length;
    for (const line of lines) digest.update(`${line}\n`);
  }
  return { chain, block: number, hash, digest: digest.digest('hex'), rows };
}

/** Returns the orders that were marked as expired after the block, each with the reason why it was dormant at the time of the block, if it was. */
async function deriveOrdersExpiredSince(main: Queryable, chain: string, blockTime: number): Promise<DerivedDormancy[]> {
  const ids = await listExpiredSince(main, chain, blockTime);
  const orders = ids.length > 0 ? await listOrdersWithEvidence(main, ids) : [];
  return orders.map(({ orderId, terms, evidence }) => ({
    id: orderId,
    reason: deriveOrderStatus(terms, evidence, blockTime).dormant,
  }));
}

/**
 * Returns the mirrored listings that were marked as expired after the block, each with the reason why it could not be filled at the time of the
 * block. Stored reasons are not used, because services can differ in whether they judged a listing again after it expired.
 */
async function deriveListingsExpiredSince(
  { main, indexer }: Sides,
  chain: string,
  blockTime: number,
): Promise<DerivedDormancy[]> {
  const listings = await listListingsExpiredSince(indexer, chain, blockTime);
  const evidence = listings.length > 0 ? await listEvidence(main, listings) : [];
  return listings.flatMap((listing, index) => {
    const found = evidence[index];
    const asOfBlock: JudgedListing = { ...listing, status: 'active' };
    return found ? [{ id: listing.key, reason: deriveListingState(asOfBlock, found, blockTime).dormant }] : [];
  });
}
