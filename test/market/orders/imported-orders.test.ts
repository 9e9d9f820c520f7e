// Tests the import of order records, with and without a signature.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyOrders } from '../../../src/intake/ingest/orders.ts';
import { parseRecordLine } from '../../../src/intake/records/parse.ts';
import { hashOrder } from '../../../src/market/orders/seaport/order.ts';
import type { SeaportOrder } from '../../../src/market/orders/seaport/order.ts';
import { SEAPORT_1_6, signOrder, toParameters } from '../../support/chain/signed-orders.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { EVM, runImport, toContext, toNdjson, order as orderRecord } from '../../support/service/intake.ts';
import { ask, HOUR, outcomeOf, START, TestOrders } from './test-orders.ts';

forOneEngine('imported orders', (engine) => {
  const orders = new TestOrders(engine);

  const record = async (order: SeaportOrder, more: object = {}, signature?: string) =>
    orderRecord({
      seller: order.offerer,
      priceRaw: '1000',
      seaport: { parameters: toParameters(order), signature: signature ?? (await signOrder(1, order)) },
      ...more,
    });
  const load = (...records: unknown[]) => runImport(toContext(orders.db), toNdjson(records));

  test('an order with a valid signature is stored once, even when it is imported and submitted', async () => {
    const order = ask();
    const line = await record(order);
    assert.deepEqual((await load(line)).refused, []);
    const [row] = await orders.db.query('select * from main.book_order');
    assert.deepEqual([row?.['order_hash'], row?.['operator']], [hashOrder(order), SEAPORT_1_6.address]);
    assert.deepEqual((row?.['expires_at'] as Date | undefined)?.getTime(), (START + HOUR) * 1_000);
    assert.equal((await load(line)).summary.unchanged, 1);
    assert.equal(await outcomeOf(orders.submitSigned(orders.offline, order)), 'duplicate');
    const underAnotherId = await load(await record(order, { createdAt: '2026-05-02T00:00:00Z' }));
    assert.match(underAnotherId.refused[0]?.reason ?? '', /^seaport: the order is already stored as ethereum_/);
  });

  test('an order is rejected when its signature is invalid, or when its record differs from the signed terms', async () => {
    const order = ask();
    const { refused, summary } = await load(
      await record(order, {}, await signOrder(2, order)),
      await record(order, { tokenId: '2' }),
      await record(order, { priceRaw: '999' }),
      await record(order, { seller: EVM }),
      await record(order, { expiresAt: '2027-01-01T00:00:00Z' }),
      await record(order, {}, '0x'),
      await record(ask({ price: 0n }), { priceRaw: '0' }),
      orderRecord({ tokenId: '5' }),
    );
    assert.equal(summary.inserted, 1, 'the unsigned order is not the only order that was stored');
    const reasons = refused.map(({ line, reason }) => `${line} ${reason.slice(0, 80)}`);
    assert.match(reasons.join('\n'), /^1 seaport\.signature: is not a signature of this order by its offerer/);
    assert.equal(reasons.length, 7);
    for (const [index, pattern] of [
      /tokenId: must be the value in the signed order/,
      /priceRaw: must be the value in the signed order/,
      /seller: must be the value in the signed order/,
      /expiresAt: must be the value in the signed order/,
      /signature: must/,
      /price_not_positive/,
    ].entries()) {
      assert.match(reasons[index + 1] ?? '', pattern);
    }
  });

  test('the event loop runs other work while many signatures are verified', async () => {
    const { record: parsed } = parseRecordLine(
      { ...toContext(orders.db), now: () => START * 1_000 },
      JSON.stringify(await record(ask())),
    );
    assert.ok(parsed);
    let pauses = 0;
    const count = () => {
      pauses += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const { verified } = await verifyOrders(Array.from({ length: 200 }, (_, line) => ({ line, record: parsed })));
    clearImmediate(timer);
    assert.equal(verified.length, 200);
    assert.ok(pauses > 1, 'no other work ran during the verification');
  });

  test('a record without a signature does not change the terms of a signed order', async () => {
    const order = ask();
    await load(await record(order));
    await load(orderRecord({ priceRaw: '1', seller: order.offerer }));
    const priceOf = async () => (await orders.db.query('select price_raw, status, order_hash from main.book_order'))[0];
    assert.deepEqual(await priceOf(), { price_raw: '1000', status: 'active', order_hash: hashOrder(order) });
    await load(orderRecord({ priceRaw: '1', seller: order.offerer, status: 'filled', tx: '0x1' }));
    assert.equal((await priceOf())?.['status'], 'filled');
  });

  test('the status of a signed order of a followed collection is derived from the chain log', async () => {
    await orders.follow({ held: 0n });
    await load(await record(ask()));
    assert.equal((await orders.db.query('select dormant from main.book_order'))[0]?.['dormant'], 'no-balance');
  });
});
