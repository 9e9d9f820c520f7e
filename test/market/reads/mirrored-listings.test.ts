// When an order that marketplaces have listed is added to the order book of this service, its mirrored listings are retired immediately.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import type { Chain } from '../../../src/platform/core/chains.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { retireMirroredListings } from '../../../src/market/index/retire-listings.ts';
import type { OrderContext } from '../../../src/market/orders/submit.ts';
import { submitOrder } from '../../../src/market/orders/submit.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import {
  EVM,
  NOW,
  emptyTables,
  ingest,
  listing,
  order as orderRecord,
  toContext,
} from '../../support/service/intake.ts';
import { accountOf, hashAsk, signOrder, toAsk, toParameters } from '../../support/chain/signed-orders.ts';

const chains = createChains();
const ethereum = chains.get('ethereum') as Chain;
const OFFERER = accountOf(1).lower;
const START = NOW / 1_000 - 60;

const order = toAsk({ offerer: OFFERER, contract: EVM, tokenId: 1n, price: 100n, start: START, end: START + 3_600 });
const orderHash = hashAsk(order);

forOneEngine('the mirrored listings of an order', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await emptyTables(db);
    await ingest(
      db,
      listing({ id: 'opensea', orderHash }),
      listing({ id: 'magic-eden', orderHash: orderHash.toUpperCase().replace('0X', '0x'), source: 'magic-eden' }),
      listing({ id: 'other-order', orderHash: `0x${'ab'.repeat(32)}` }),
      listing({ id: 'no-order' }),
      listing({ id: 'other-chain', orderHash, chain: 'base' }),
    );
  });

  const listActive = async () => {
    const rows = await db.query(`select id from indexer.listing where status = 'active' order by id`);
    return rows.map((row) => row['id']);
  };
  const submit = async (indexer: Pick<Database, 'within'>) => {
    const context: OrderContext = {
      ...toContext(db),
      checksOf: () => null,
      retireMirroredListings: (orders, at) => retireMirroredListings({ indexer, chains: createChains() }, orders, at),
    };
    const signed = { parameters: toParameters(order), signature: await signOrder(1, order) };
    return submitOrder(context, { chain: ethereum, protocolAddress: null, order: signed });
  };

  test('the mirrored listings of an order are retired at all marketplaces when the order is submitted', async () => {
    await submit(db);
    assert.deepEqual(await listActive(), ['no-order', 'other-chain', 'other-order']);
  });

  test('the mirrored listings of an order are retired at all marketplaces when the order is imported', async () => {
    const seaport = { parameters: toParameters(order), signature: await signOrder(1, order) };
    const record = orderRecord({ seller: order.offerer, priceRaw: '100', seaport });
    await ingest(db, record);
    assert.deepEqual(await listActive(), ['no-order', 'other-chain', 'other-order']);
  });

  test('the mirrored listings of an order stay active when the indexer cannot be reached', async () => {
    const transaction = () => Promise.reject(new Error('out of reach'));
    const unavailable = { ...db, transaction, query: () => assert.fail() };
    const { orderId } = await submit({ within: () => unavailable as never });
    assert.equal((await db.query('select id from main.book_order'))[0]?.['id'], orderId);
    assert.equal((await listActive()).length, 5);
  });
});
