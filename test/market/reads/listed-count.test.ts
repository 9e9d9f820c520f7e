// Tests the number of listed tokens of a collection while the stored figures do not yet reflect an order's start or expiry.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Chain } from '../../../src/platform/core/chains.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { readCollectionDetail } from '../../../src/market/reads/collection.ts';
import { submitOrder } from '../../../src/market/orders/submit.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { accountOf, signOrder, toAsk, toParameters } from '../../support/chain/signed-orders.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { EVM, NOW, collection, emptyTables, ingest, listing, toContext } from '../../support/service/intake.ts';

const HOUR_MS = 3_600_000;

forOneEngine('the number of listed tokens', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
    await emptyTables(db);
  });

  test('the number of listed tokens counts a token with a mirrored listing and an own order once: before the order starts, while it is active, and after it expires', async () => {
    let now = NOW;
    const context = toContext(db, { clock: () => now });
    await ingest(
      db,
      collection({ contractAddress: EVM }),
      listing({ id: 'a', tokenId: '1' }),
      listing({ id: 'b', tokenId: '2' }),
    );
    const [start, end] = [NOW / 1_000 + 3_600, NOW / 1_000 + 3 * 3_600];
    for (const tokenId of [1n, 3n]) {
      const order = toAsk({ offerer: accountOf(1).lower, contract: EVM, tokenId, price: 100n, start, end });
      const signed = { parameters: toParameters(order), signature: await signOrder(1, order) };
      const chain = context.chains.get('ethereum') as Chain;
      await submitOrder({ ...context, checksOf: () => null }, { chain, protocolAddress: null, order: signed });
    }
    const countAt = async (ms: number) => {
      now = NOW + ms;
      const { listedCount } = await readCollectionDetail(context.market, `ethereum_${EVM}`);
      return listedCount?.value;
    };
    const sweep = async () => {
      await sweepExpired({ main: db, indexer: db, chains: context.chains, clock: () => now });
      await context.copyCatalog();
    };
    assert.equal(await countAt(0), 2);
    assert.equal(await countAt(2 * HOUR_MS), 3, 'the count is wrong before the sweep records the start');
    await sweep();
    assert.equal(await countAt(2 * HOUR_MS), 3, 'the count is wrong after the sweep');
    assert.equal(await countAt(4 * HOUR_MS), 2, 'the count is wrong before the sweep records the expiry');
    await sweep();
    assert.equal(await countAt(4 * HOUR_MS), 2, 'the count is wrong after the second sweep');
  });
});
