// Tests what the databases store of the events of settlement protocols: the price of an accepted bid, one row for a sale that a marketplace
// also reports, and the end of listings whose order or nonce is cancelled.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { ChainEvent } from '../../../src/market/chain-log/chain-event.ts';
import { insertReorg, listOrderEvents } from '../../../src/market/chain-log/queries/chain-events.ts';
import { revertAfter } from '../../../src/sources/chains/apply-block.ts';
import { toFill } from '../../../src/sources/chains/protocols/market-fill.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { toTokenId } from '../../../src/platform/core/address.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { readSales } from '../../../src/market/reads/sales.ts';
import { readSalesStatus } from '../../../src/market/index/sales-status.ts';
import { FOLLOWED, applyAndProject, followAnew, projectAll } from '../../support/chain/applied-events.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { EVM, NOW, SELLER, ingest, listing, sale, toContext } from '../../support/service/intake.ts';

const BUYER = `0x${'b2'.repeat(20)}` as Address;
const CRYPTOPUNKS = '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb' as Address;
const LOOKSRARE = '0x0000000000e655fae4d56241588680f86e3b2377' as Address;
const PAYMENT_PROCESSOR = '0x9a1d00bed7cd04bcda516d721a596eb22aac6834' as Address;
const txOf = (block: number) => `0x${block.toString(16).padStart(64, '0')}` as const;
const at = (blockNumber: number) => {
  return { blockNumber, blockTime: NOW + blockNumber * 1_000, tx: txOf(blockNumber), logIndex: 0, part: 0 };
};

const soldAt = (block: number, changes: object) =>
  toFill(at(block), {
    protocol: PAYMENT_PROCESSOR,
    orderHash: null,
    isBid: false,
    seller: SELLER as Address,
    buyer: BUYER,
    tokens: [{ contract: EVM as Address, tokenId: 1n, quantity: 1n }],
    currency: ZERO_ADDRESS,
    price: 100n,
    ...changes,
  });

forOneEngine('sales of settlement protocols', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => followAnew(db));

  const apply = (...events: ChainEvent[]) => applyAndProject(db, events);
  const revert = async (ancestor: number) => {
    await db.transaction(async (tx) => {
      const { evidence } = await revertAfter(tx, 'ethereum', ancestor, NOW);
      await insertReorg(tx, 'ethereum', {
        ancestor,
        depth: 1,
        affected: evidence,
        at: NOW,
        since: null,
        collectionIds: [],
      });
    });
    await projectAll(db);
  };
  const rows = async () => {
    const found = await db.query(
      `select source, asset, price_raw::text as price, seller, buyer, listing_id from indexer.sale order by sold_at, key`,
    );
    const [total] = await db.query(`select volume_raw::int as volume, sales::int from indexer.sale_total`);
    return { found: found.map((row) => Object.values(row)), sums: Object.values(total ?? {}) };
  };

  test('the price of an accepted bid is the price of the last bid that its buyer made before the sale', async () => {
    const bid = (block: number, bidder: Address, price: bigint): ChainEvent => {
      return { ...at(block), kind: 'token-bid', protocol: CRYPTOPUNKS, tokenId: toTokenId(1n), bidder, price };
    };
    const accepted = { protocol: CRYPTOPUNKS, isBid: true, currency: CRYPTOPUNKS, price: 0n };
    await apply(
      bid(1, BUYER, 10n),
      bid(2, BUYER, 20n),
      bid(3, SELLER as Address, 30n),
      soldAt(4, accepted),
      bid(5, BUYER, 40n),
    );
    assert.deepEqual(await rows(), { found: [['larvalabs', '1', '20', SELLER, BUYER, null]], sums: [20, 1] });
    await apply(soldAt(6, { ...accepted, buyer: LOOKSRARE }));
    assert.deepEqual((await rows()).found[1], ['larvalabs', '1', null, SELLER, LOOKSRARE, null]);
    assert.deepEqual((await rows()).sums, [20, 1], 'an unknown price was counted');
  });

  test('a sale that a marketplace also reports is one row: source and listing are from the report, the rest from the chain', async () => {
    const report = (tokenId: string, block: number) => {
      const timestamp = new Date(NOW).toISOString();
      return sale({
        tokenId,
        tx: txOf(block),
        price: '99',
        timestamp,
        source: 'magic-eden',
        listingId: `listing-${block}`,
      });
    };
    const expected = {
      found: [
        ['magic-eden', '1', '100', SELLER, BUYER, 'listing-1'],
        ['magic-eden', '1', '100', SELLER, BUYER, 'listing-2'],
        ['looksrare', '1', '100', SELLER, BUYER, 'listing-3'],
      ],
      sums: [300, 3],
    };
    await ingest(db, report('1', 1));
    await apply(soldAt(1, {}), soldAt(2, {}), soldAt(3, { protocol: LOOKSRARE }));
    await ingest(db, report('1', 2), report('1', 3));
    assert.deepEqual(await rows(), expected);
    await ingest(db, report('1', 1), report('1', 2), report('1', 3));
    assert.deepEqual(await rows(), expected);
    await revert(1);
    assert.deepEqual(await rows(), { found: expected.found.slice(0, 1), sums: [100, 1] });
  });

  test('if the price of a sale is not on the chain, the sale is served as a marketplace reported it, with the reported price', async () => {
    const unpriced = { protocol: CRYPTOPUNKS, isBid: true, currency: CRYPTOPUNKS, price: 0n };
    const report = (tx: number) =>
      sale({ tokenId: '1', tx: txOf(tx), price: '70', timestamp: new Date(NOW).toISOString(), source: 'larvalabs' });
    await ingest(db, report(1));
    await apply(soldAt(1, unpriced), soldAt(2, unpriced));
    await ingest(db, report(2), report(2));
    const { found, sums } = await rows();
    assert.deepEqual(sums, [140, 2]);
    const { sales } = await readSales(toContext(db).market, FOLLOWED, { before: null, limit: 9 });
    assert.deepEqual(sales.map(({ raw, tx }) => `${raw} ${tx}`).toSorted(), [`70 ${txOf(1)}`, `70 ${txOf(2)}`]);
    assert.equal(found.length, 4);
    await revert(1);
    assert.deepEqual((await rows()).sums, [140, 2], 'a reorganisation removed a reported sale');
  });

  test('a sale paid in a dollar token is stored and counted in the status, and counts in the number of sales, but not in the volume', async () => {
    const dollars = `0x${'d0'.repeat(20)}` as Address;
    await apply(soldAt(1, { currency: dollars }), soldAt(2, {}));
    assert.deepEqual((await rows()).sums, [100, 2]);
    assert.deepEqual((await rows()).found[0], ['unknown', '1', null, SELLER, BUYER, null]);
    assert.deepEqual(await readSalesStatus(db), [{ chain: 'ethereum', withoutNativePrice: 1 }]);
    await revert(0);
    assert.deepEqual(await readSalesStatus(db), []);
  });

  test('a transaction that buys units of one token from two sellers is stored as two sales', async () => {
    const [first, second] = [soldAt(1, {}), soldAt(1, { seller: LOOKSRARE, price: 30n })];
    await apply(first, { ...second, part: 1 });
    assert.deepEqual((await rows()).sums, [130, 2]);
    await revert(0);
    assert.deepEqual((await rows()).found, []);
  });

  test('the listings of an order end if their seller cancels the order, but not if another account does', async () => {
    const orderHash = `0x${'5c'.repeat(32)}` as const;
    const cancel = (block: number, offerer: Address): ChainEvent => {
      return { ...at(block), kind: 'order-cancelled', protocol: PAYMENT_PROCESSOR, orderHash, offerer };
    };
    const terms = { source: 'magic-eden', seller: SELLER, orderHash, tokenId: '1' };
    await ingest(
      db,
      listing({ ...terms, id: 'complete', protocolAddress: PAYMENT_PROCESSOR, counter: '7' }),
      listing({ ...terms, id: 'incomplete', source: 'opensea' }),
    );
    const statuses = async () => (await db.query(`select status from indexer.listing`)).map((row) => row['status']);
    await apply(cancel(1, BUYER));
    assert.deepEqual(await statuses(), ['active', 'active'], 'the cancel of a stranger ended a listing');
    const order = { orderHash, protocol: PAYMENT_PROCESSOR, offerer: SELLER, counter: 7n };
    assert.deepEqual(await listOrderEvents(db, 'ethereum', order), []);
    await apply(cancel(2, SELLER as Address));
    assert.deepEqual(await statuses(), ['cancelled', 'cancelled']);
    assert.equal((await listOrderEvents(db, 'ethereum', order)).length, 1);
  });

  test('a cancelled nonce ends the listings with this nonce at the same protocol, and a reorganisation makes them active again', async () => {
    const terms = { source: 'looksrare', protocolAddress: LOOKSRARE, seller: SELLER };
    await apply({
      ...at(1),
      kind: 'transfer',
      contract: EVM as Address,
      tokenId: toTokenId(1n),
      from: ZERO_ADDRESS,
      to: SELLER as Address,
      quantity: 1n,
    });
    await ingest(
      db,
      listing({ ...terms, id: 'same', tokenId: '1', counter: '7' }),
      listing({ ...terms, id: 'higher', tokenId: '1', counter: '8' }),
      listing({ ...terms, id: 'elsewhere', tokenId: '1', counter: '7', protocolAddress: PAYMENT_PROCESSOR }),
    );
    const statuses = async () => {
      const found = await db.query(`select id, status from indexer.listing order by id`);
      return found.map((row) => `${String(row['id'])} ${String(row['status'])}`);
    };
    await apply({
      ...at(2),
      kind: 'nonce-cancelled',
      protocol: LOOKSRARE,
      offerer: SELLER as Address,
      nonce: 7n,
    });
    assert.deepEqual(await statuses(), ['elsewhere active', 'higher active', 'same cancelled']);
    await revert(1);
    assert.deepEqual(await statuses(), ['elsewhere active', 'higher active', 'same active']);
  });
});
