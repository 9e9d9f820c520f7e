// Bids in a currency that the setting CURRENCIES names: what is served of them, and that they are never compared with bids in the wrapped native currency.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { BidOptions } from '../../support/chain/signed-orders.ts';
import { accountOf, toBid } from '../../support/chain/signed-orders.ts';
import { until } from '../../support/until.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { IntakeClient } from '../../support/service/intake-client.ts';
import { ask, OFFERER, START, startIntake, submissionOf } from '../../support/service/intake-client.ts';
import { bid as record, collection, EVM, NOW, token } from '../../support/service/intake.ts';

const ID = `ethereum_${EVM}`;
const WETH = createChains().get('ethereum')?.wrappedNative ?? '';
const USDC = `0x${'dc'.repeat(20)}`;
const HOUR_S = 3_600;
const byText = (a: string, b: string) => (a < b ? -1 : 1);

forEachEngine('bids in other currencies', (engine) => {
  describe('service', () => {
    const intake = {} as IntakeClient;
    const ids: Record<string, string> = {};
    const bid = (more: Partial<BidOptions> = {}) =>
      toBid({
        offerer: OFFERER,
        contract: EVM,
        wanted: 'any',
        currency: USDC,
        price: 5_000_000n,
        start: START,
        end: START + HOUR_S,
        ...more,
      });
    const submit = async (name: string, order: ReturnType<typeof bid>) => {
      const sent = await intake.send('POST', '/orders', { body: await submissionOf(order) });
      assert.equal(sent.status, 201, `${name}: ${JSON.stringify(sent.body)}`);
      ids[name] = sent.body.data.orderId;
      return sent.body;
    };
    const namesOf = (rows: any[]) =>
      rows.map(({ orderId }) => Object.entries(ids).find(([, id]) => id === orderId)?.[0] ?? orderId).toSorted(byText);
    const explore = async (path: string) => (await intake.service.ok(`/explore/v1${path}`)).data;
    const list = async (query: string) => namesOf(await explore(`/orders?side=bid&${query}`));
    const topOf = async (path: string) => (await explore(path)).topBid;
    const priceOf = (raw: string, decimal: number) => ({ raw, decimal, currency: 'USDC', usd: null, decimals: 6 });

    before(async () => {
      Object.assign(intake, await startIntake(engine, { CURRENCIES: `ethereum:USDC:${USDC}:6` }));
      await intake.service.load([
        collection(),
        ...['1', '2'].map((tokenId) => token({ tokenId, traits: ['Wind: Gale'] })),
        { kind: 'rate', symbol: 'ETH', usd: 4_000, at: new Date(NOW).toISOString() },
      ]);
      await submit('ask', ask({ tokenId: 2n, price: 9_000n }));
    });
    after(() => intake.service.close());

    test('alone are no top bid and make no spread', async () => {
      const fees = [{ recipient: accountOf(9).lower, amount: 1_000_000n }];
      const { data, order } = await submit('usdc', bid({ quantity: 2n, price: 10_000_000n, fees }));
      assert.deepEqual(
        [data.price, order.proceeds],
        [
          { raw: '5000000', decimal: 5, currency: 'USDC', usd: null },
          { raw: '4500000', decimal: 4.5, currency: 'USDC', usd: null },
        ],
      );
      await submit('usdc for 2', bid({ wanted: { tokenId: 2n }, price: 7_000_000n }));
      await intake.service.load([
        record({ id: 'R', priceRaw: '6000000', proceedsRaw: '6000000', currency: USDC }),
        record({ id: 'T', priceRaw: '8000000', proceedsRaw: '8000000', currency: USDC, traits: ['Wind: Gale'] }),
      ]);
      ids['reported'] = `${ID}_bid_opensea:R`;
      ids['reported trait'] = `${ID}_bid_opensea:T`;
      assert.equal(await topOf(`/tokens/ethereum/${EVM}/2`), null);
      const detail = await explore(`/collections/${ID}`);
      assert.deepEqual([detail.stats.topBid, detail.stats.spread], [null, null]);
      const [trait] = await explore(`/collections/${ID}/traits`);
      assert.deepEqual(trait.values[0].topBid, null);
    });

    test('are not compared with a bid in the wrapped native currency, which is the top bid', async () => {
      await submit('weth', bid({ currency: WETH, price: 1_000n }));
      assert.equal((await topOf(`/tokens/ethereum/${EVM}/2`)).orderId, ids['weth']);
      assert.equal((await explore(`/collections/${ID}`)).stats.topBid.orderId, ids['weth']);
      const [trait] = await explore(`/collections/${ID}/traits`);
      assert.equal(trait.values[0].topBid.orderId, ids['weth']);
    });

    test('are in every list by time and of a token, and in no list by price', async () => {
      const all = ['reported', 'reported trait', 'usdc', 'usdc for 2', 'weth'];
      assert.deepEqual(await list(`collection=${ID}`), all);
      assert.deepEqual(await list(''), all);
      assert.deepEqual(await list(`collection=${ID}&token=2`), all);
      assert.deepEqual(
        await list(`collection=${ID}&token=1`),
        all.filter((name) => name !== 'usdc for 2'),
      );
      assert.deepEqual(await list(`maker=${OFFERER}`), ['usdc', 'usdc for 2', 'weth']);
      assert.deepEqual(await list(`collection=${ID}&sort=expires`), ['usdc', 'usdc for 2', 'weth']);
      assert.deepEqual(await list(`collection=${ID}&sort=price`), ['weth']);
      assert.deepEqual(await list(`collection=${ID}&token=2&sort=price`), ['weth']);
    });

    test('have the symbol and the decimals of their currency, and no dollar value', async () => {
      const rows: any[] = await explore(`/orders?side=bid&collection=${ID}`);
      const row = rows.find(({ orderId }) => orderId === ids['usdc']);
      const amounts = {
        price: priceOf('5000000', 5),
        proceeds: priceOf('4500000', 4.5),
        total: priceOf('10000000', 10),
      };
      const { price, proceeds, total } = row;
      assert.deepEqual({ price, proceeds, total }, amounts);
      const one = await explore(`/orders/${ids['usdc']}`);
      assert.deepEqual([one.proceeds, one.listing.price], [amounts.proceeds, amounts.price]);
      const reported = await explore(`/orders/${encodeURIComponent(ids['reported'] ?? '')}`);
      assert.deepEqual(reported.proceeds, priceOf('6000000', 6));
      const native = rows.find(({ orderId }) => orderId === ids['weth']);
      assert.deepEqual([native.price.currency, native.price.decimals], ['ETH', 18]);
      const read = await intake.send('GET', `/orders/${ids['usdc']}/explain`);
      assert.equal(read.body.data.order.data.price.currency, 'USDC');
    });

    test('are activity with the currency and the price of one unit, and without a native price', async () => {
      await intake.send('POST', `/orders/${ids['usdc for 2']}/cancel`, { key: intake.keys.intake, body: {} });
      await intake.service.load([
        record({ id: 'R', priceRaw: '6000000', proceedsRaw: '6000000', timestamp: new Date(NOW).toISOString() }),
      ]);
      const read = async () => {
        const rows: any[] = await explore(`/activity?collection=${ID}&kinds=bid,bid-cancel`);
        return rows.map(({ kind, orderId, price, total, currency, amount }) =>
          [kind, namesOf([{ orderId }])[0], price?.raw ?? null, total?.raw ?? null, currency, amount].join(' '),
        );
      };
      // A response is kept for a second of the clock, which stands still in a test.
      const isMerged = async () => {
        intake.advance(1_001);
        return (await read()).length >= 7;
      };
      await until(isMerged, 60_000, 'the changes are not in the activity');
      const shown = await read();
      assert.deepEqual(
        shown.toSorted(byText),
        [
          'bid reported 6000000 6000000  ',
          `bid reported   ${USDC} 6000000`,
          `bid reported trait   ${USDC} 8000000`,
          `bid usdc   ${USDC} 5000000`,
          `bid usdc for 2   ${USDC} 7000000`,
          'bid weth 1000 1000  ',
          `bid-cancel usdc for 2   ${USDC} 7000000`,
        ].toSorted(byText),
      );
    });

    test('are rejected in a currency that is not named, with the accepted ones in the message', async () => {
      const sent = await intake.send('POST', '/orders', { body: await submissionOf(bid({ currency: EVM })) });
      assert.deepEqual([sent.status, sent.body.error.code], [422, 'unsupported_currency']);
      assert.ok(sent.body.error.message.includes(WETH) && sent.body.error.message.includes(`USDC, ${USDC}`));
    });
  });
});
