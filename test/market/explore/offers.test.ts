// What is offered for the tokens of a wallet, compared with the best bid of each token in plain lists. The wallet holds more tokens than one search reads.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../../devnet/random.ts';
import type { Offer, OfferPosition } from '../../../src/market/explore/queries/bids.ts';
import { listOffers } from '../../../src/market/explore/queries/bids.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';

const NOW = Date.UTC(2026, 5, 1);
const WALLET = '0x00000000000000000000000000000000000000aa';
const OTHER = '0x00000000000000000000000000000000000000bb';
const COLLECTIONS = 40;
const TOKENS_EACH = 9;
const CHAINS = ['base', 'ethereum'];

type Bid = { collectionId: string; tokenId: string | null; root: string | null; proceeds: number; seller: string };

forEachEngine('offers for many tokens', (engine) => {
  test('each page has the best bid of other accounts for each token of a followed collection, the best first', async () => {
    const db = await engine.open();
    const random = createRandom(3);
    const expected: [key: string, proceeds: number][] = [];
    const bids: Bid[] = [];
    for (let number = 0; number < COLLECTIONS; number += 1) {
      const chain = CHAINS[number % 2] ?? '';
      const address = `0x${number.toString(16).padStart(40, '0')}`;
      const collectionId = `${chain}_${address}`;
      const isFollowed = number % 7 !== 0;
      // Some collections have no bid, and in some only the bids of the wallet are high.
      const own = drawBids(random, collectionId, number % 5);
      bids.push(...own);
      await store(db, { chain, address, collectionId, isFollowed });
      if (!isFollowed) continue;
      for (let token = 1; token <= TOKENS_EACH; token += 1) {
        const best = own
          .filter(({ seller, tokenId, root }) => seller !== WALLET && isFor(String(token), tokenId, root))
          .reduce((most, { proceeds }) => Math.max(most, proceeds), 0);
        if (best > 0) expected.push([`${collectionId} ${token}`, best]);
      }
    }
    await storeBids(db, bids);
    const chainOf = (key: string) => key.slice(0, key.indexOf('_'));
    const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
    expected.sort(([a, x], [b, y]) => compare(chainOf(a), chainOf(b)) || y - x || compare(a, b));
    const toPair = ({ collectionId, asset, bid }: Offer) => [`${collectionId} ${asset}`, Number(bid.proceeds)];
    const query = { account: WALLET, chains: CHAINS, now: NOW };
    assert.ok(expected.length > 150);
    for (const limit of [5, 40, 1_000]) {
      const pages: ReturnType<typeof toPair>[] = [];
      for (let after: OfferPosition | null = null; ;) {
        const page: Offer[] = await listOffers(db, { ...query, after, limit });
        pages.push(...page.map(toPair));
        const last = page.at(-1);
        if (!last || page.length < limit) break;
        const { chain, collectionId, asset, bid } = last;
        after = { chain, collectionId, asset, proceeds: bid.proceeds.toString() };
      }
      assert.deepEqual(pages, expected, `pages of ${limit}`);
    }
    const ofBase = await listOffers(db, { ...query, chains: ['base'], after: null, limit: 1_000 });
    assert.deepEqual(
      ofBase.map(toPair),
      expected.filter(([key]) => chainOf(key) === 'base'),
    );
  });
});

/** The set `0x…01` has the odd tokens. */
const SET = `0x${'0'.repeat(63)}1`;

function isFor(token: string, tokenId: string | null, root: string | null): boolean {
  return tokenId === null ? root === null || Number(token) % 2 === 1 : tokenId === token;
}

function drawBids(random: ReturnType<typeof createRandom>, collectionId: string, kind: number): Bid[] {
  const draw = (tokenId: string | null, root: string | null, seller = OTHER): Bid => {
    return { collectionId, tokenId, root, seller, proceeds: 1 + random.below(50) };
  };
  return [
    ...(kind === 0 ? [] : [draw(String(1 + random.below(TOKENS_EACH)), null)]),
    ...(kind === 1 ? [{ ...draw(null, null, WALLET), proceeds: 900 }, draw('2', null)] : []),
    ...(kind >= 2 ? [draw(null, SET)] : []),
    ...(kind >= 3 ? [draw(null, null), draw(null, null)] : []),
  ];
}

type Stored = { chain: string; address: string; collectionId: string; isFollowed: boolean };

async function store(db: Database, { chain, address, collectionId, isFollowed }: Stored): Promise<void> {
  await db.query(
    `insert into main.follow (collection_id, chain, contract_address, standard, joined, created_at) values ($1, $2, $3, 'erc721', $4, $5)`,
    [collectionId, chain, address, isFollowed, new Date(NOW)],
  );
  await db.query(
    `insert into main.holding (collection_id, token_id, holder, quantity) select $1, n::text, $2, 1 from generate_series(1, $3::int) as n`,
    [collectionId, WALLET, TOKENS_EACH],
  );
  await db.query(
    `insert into main.token_set_member (collection_id, token_id, root) select $1, n::text, $2 from generate_series(1, $3::int, 2) as n`,
    [collectionId, SET, TOKENS_EACH],
  );
}

async function storeBids(db: Database, bids: readonly Bid[]): Promise<void> {
  for (const [number, { collectionId, tokenId, root, proceeds, seller }] of bids.entries()) {
    const [chain, address] = collectionId.split('_');
    await db.query(
      `insert into main.book_order (id, collection_id, chain, contract_address, token_id, root, price_raw, proceeds_raw, seller, status, created_at, side)
       values ($1, $2, $3, $4, $5, $6, $7::numeric, $7::numeric, $8, 'active', $9, 'bid')`,
      [`bid ${number}`, collectionId, chain, address, tokenId, root, proceeds, seller, new Date(NOW)],
    );
  }
}
