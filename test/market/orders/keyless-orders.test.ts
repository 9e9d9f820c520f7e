// Tests the setting TRADING_CHAINS: which orders are accepted without an API key, and what the public status says about trading.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import { KEYLESS_ORDERS_A_MINUTE_MAX } from '../../../src/intake/http/access.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { EVM } from '../../support/service/intake.ts';
import type { IntakeClient } from '../../support/service/intake-client.ts';
import { ask, startIntake, submissionOf } from '../../support/service/intake-client.ts';
import { SEAPORT_1_6 } from '../../support/chain/signed-orders.ts';

const FIRST_BLOCK = `0x${'ab'.repeat(32)}`;

forOneEngine('orders without a key', (engine) => {
  describe('service', () => {
    const intake = {} as IntakeClient;
    before(async () => {
      const settings = { TRADING_CHAINS: `ethereum=${FIRST_BLOCK}`, SEAPORT_ADDRESSES: '' };
      Object.assign(intake, await startIntake(engine, settings));
      await intake.service.load([{ kind: 'collection', chain: 'ethereum', contractAddress: EVM, name: 'A' }]);
    });
    after(() => intake.service.close());
    const keyless = { key: null };

    test('a signed order without a key is listed if TRADING_CHAINS names its chain', async () => {
      const { status, body } = await intake.send('POST', '/orders', { body: await submissionOf(ask()), ...keyless });
      assert.deepEqual([status, body.data.status], [201, 'active']);
    });

    test('an order without a key for another chain, an order with a wrong key, and every request without a key that submits no order get 401', async () => {
      const body = await submissionOf(ask());
      const rejected = [
        await intake.send('POST', '/orders', { body: { ...body, chain: 'base' }, ...keyless }),
        await intake.send('POST', '/orders', { body, key: 'wrong' }),
        await intake.send('GET', '/orders/any', keyless),
        await intake.send('GET', '/orders/any/explain', keyless),
        await intake.send('POST', '/orders/any/cancel', { body: {}, ...keyless }),
        await intake.send('POST', '/records', { body: '{}', ...keyless }),
      ];
      for (const { status } of rejected) assert.equal(status, 401);
    });

    test('an order that is not signed by its offerer is rejected', async () => {
      const { order, ...rest } = await submissionOf(ask({ tokenId: 2n }));
      const signature = order.signature.replace(/.{4}$/, '001b');
      const body = { ...rest, order: { ...order, signature } };
      const response = await intake.send('POST', '/orders', { body, ...keyless });
      assert.deepEqual([response.status, response.body.error.code], [422, 'signature_invalid']);
    });

    test('the public status names the chain, its first block, its wrapped currency, and the Seaport contract for which orders are signed', async () => {
      const { data } = (await (await fetch(`${intake.service.url}/status`)).json()) as any;
      assert.deepEqual(data.trading, [
        {
          chain: 'ethereum',
          chainId: 1,
          currency: 'ETH',
          decimals: 18,
          wrappedNative: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
          firstBlock: FIRST_BLOCK,
          seaport: { address: SEAPORT_1_6.address, version: '1.6' },
        },
      ]);
    });

    test('too many orders without a key from one IP address get 429, but an order with a key from the same IP address does not', async () => {
      const statuses: number[] = [];
      for (let sent = 0; sent <= KEYLESS_ORDERS_A_MINUTE_MAX; sent += 1)
        statuses.push((await intake.send('POST', '/orders', { body: {}, ...keyless })).status);
      assert.equal(statuses.at(-1), 429);
      assert.equal((await intake.send('POST', '/orders', { body: {} })).status, 400);
    });
  });
});

test('TRADING_CHAINS is rejected unless it names EVM chains, each with the hash of its first block', () => {
  for (const wrong of ['ethereum', `solana=${FIRST_BLOCK}`, `ether=${FIRST_BLOCK}`, 'ethereum=0x12', ',']) {
    assert.throws(() => readConfig({ TRADING_CHAINS: wrong }), /TRADING_CHAINS/, wrong);
  }
  assert.deepEqual([...readConfig({ TRADING_CHAINS: `base=${FIRST_BLOCK}` }).tradingChains], [['base', FIRST_BLOCK]]);
});
