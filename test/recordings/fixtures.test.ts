// The fixtures have the shapes of the recordings. Every field of a fixture is in the recording, with a value of the same type.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFixture } from '../support/fixtures.ts';
import { needsPayloads, readPayload } from '../support/recordings/payloads.ts';

/** Each fixture, and the recordings that show its shape. */
const RECORDED_SHAPES: Readonly<Record<string, readonly string[]>> = {
  'opensea/stats.json': ['opensea/collections_slug_stats.recorded.json'],
  'opensea/orders-2023.json': ['opensea/orders_listings_v2.seaport15.json'],
  'magic-eden/listings.json': [
    'magiceden-solana/recorded_collections_listings.degods-2025-07.json',
    'magiceden-solana/v2_collections_symbol_listings.json',
  ],
  'magic-eden/activities.json': [
    'magiceden-solana/v2_wallets_owner_activities.json',
    'magiceden-solana/v2_collections_symbol_activities.json',
  ],
  'magic-eden/stats.json': ['magiceden-solana/v2_collections_symbol_stats.json'],
  'magic-eden/token.json': ['magiceden-solana/v2_tokens_token_mint.json'],
  'magic-eden/asks-v3.json': ['magiceden-evm/orders_asks_v5.me-evm-v3-rtp.json'],
  'das/assets-by-group.json': ['helius/getAssetsByCreator.famous-fox.50.json'],
  'das/assets-by-owner.json': ['helius/getAssetsByOwner.50.json'],
  'coinbase/spot.json': ['coinbase/v2_prices_ETH-USD_spot.json'],
};

/** The path of each leaf with its type. All elements of an array have the same path. */
function shapeOf(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => shapeOf(one, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [`${at}: ${value === null ? 'null' : typeof value}`];
  return Object.entries(value).flatMap(([name, one]) => shapeOf(one, `${at}.${name}`));
}

for (const [fixture, recordings] of Object.entries(RECORDED_SHAPES)) {
  test(`${fixture} has the shape of its recording`, needsPayloads(...recordings), () => {
    const recorded = new Set(recordings.flatMap((name) => shapeOf(JSON.parse(readPayload(name)))));
    const own = new Set(shapeOf(parseFixture(fixture)));
    assert.deepEqual(
      [...own].filter((leaf) => !recorded.has(leaf)),
      [],
    );
  });
}
