// Bids that marketplaces report, in the explore interface: they stand beside the bids of the service in every list and in the top bid, with the
// marketplace that has reported them. Nothing of /v1 changes.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createChains } from '../../../src/platform/core/chains.ts';
import { hashOrder } from '../../../src/market/orders/seaport/order.ts';
import { toBid } from '../../support/chain/signed-orders.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { IntakeClient } from '../../support/service/intake-client.ts';
import { OFFERER, START, startIntake, submissionOf } from '../../support/service/intake-client.ts';
import { ASSET, bid, collection, EVM, listing, MINT, NOW, SELLER, token } from '../../support/service/intake.ts';

const ID = `ethereum_${EVM}`;
const WETH = createChains().get('ethereum')?.wrappedNative ?? '';
const HOUR_MS = 3_600_000;
const SOLANA = { chain: 'solana', contractAddress: MINT, source: 'magic-eden', buyer: ASSET };
const at = (hours: number) => new Date(NOW + hours * HOUR_MS).toISOString();
const priced = (proceeds: number, more: object = {}) =>
  bid({ id: `B${proceeds}`, priceRaw: String(proceeds + 10), proceedsRaw: String(proceeds), ...more });

forEachEngine('reported bids in the explore interface', (engine) => {
  describe('service', () => {
    const intake = {} as IntakeClient;
    const list = async (query: string) => (await intake.service.ok(`/explore/v1/orders?side=bid&${query}`)).data;
    const shortOf = (rows: any[]) =>
      rows.map(({ orderId }) => orderId.replace(/^.*_bid_(opensea:|magic-eden:|blur:)?/, ''));
    const topOf = async (tokenId: string) => {
      const { topBid } = (await intake.service.ok(`/explore/v1/tokens/ethereum/${EVM}/${tokenId}`)).data;
      return topBid && shortOf([topBid])[0];
    };
    const v1Paths = ['', '/floor', '/listings', '/sales'].map((path) => `/v1/collections/${ID}${path}`);
    const readV1 = () => Promise.all(v1Paths.map(async (path) => (await intake.service.ok(path)).data));
    const own = toBid({
      offerer: OFFERER,
      contract: EVM,
      wanted: 'any',
      currency: WETH,
      price: 700n,
      start: START,
      end: START + 7_200,
    });
    const ownHash = hashOrder(own);
    let v1Before: unknown;

    before(async () => {
      Object.assign(intake, await startIntake(engine));
      await intake.service.load([
        collection(),
        { kind: 'collection', chain: 'solana', contractAddress: MINT, name: 'S' },
        listing({ priceRaw: '2000' }),
        ...['1', '2', '3'].map((tokenId) => token({ tokenId, traits: [`Wind: ${tokenId === '1' ? 'Calm' : 'Gale'}`] })),
      ]);
      v1Before = await readV1();
      await intake.service.load([
        priced(500),
        priced(900, { tokenId: '1', source: 'blur', expiresAt: at(1) }),
        priced(800, { traits: [{ name: 'Wind', value: 'Gale' }], quantity: '4', remaining: '3' }),
        priced(600, { tokenIds: ['1', '9'], orderHash: `0x${'AB'.repeat(32)}` }),
        priced(950, { status: 'cancelled', endedAt: at(-2), tx: `0x${'7a'.repeat(32)}` }),
        priced(40, { ...SOLANA, mint: ASSET }),
        priced(30, SOLANA),
      ]);
    });
    after(() => intake.service.close());

    test('they are in no figure and no list of /v1', async () => {
      assert.deepEqual(await readV1(), v1Before);
    });

    test('they are listed with what they are for, their marketplace and how many units are left', async () => {
      const rows = await list(`collection=${ID}&sort=price`);
      assert.deepEqual(
        rows.map((row: any) => [
          shortOf([row])[0],
          row.marketplace,
          row.kind,
          row.criteria,
          row.tokenId,
          row.price.raw,
          row.proceeds.raw,
        ]),
        [
          ['B900', 'blur', 'item', null, '1', '910', '900'],
          [
            'B800',
            'opensea',
            'trait',
            { type: 'trait', traits: [{ name: 'Wind', value: 'Gale' }], count: 2, root: null },
            null,
            '810',
            '800',
          ],
          ['B600', 'opensea', 'trait', { type: 'tokens', traits: null, count: 2, root: null }, null, '610', '600'],
          [
            'B500',
            'opensea',
            'collection',
            { type: 'collection', traits: null, count: null, root: null },
            null,
            '510',
            '500',
          ],
        ],
      );
      const [item, trait] = rows;
      assert.deepEqual(
        [
          item.buyer,
          item.maker,
          item.seller,
          item.status,
          item.dormant,
          item.expiresAt,
          trait.quantity,
          trait.remaining,
        ],
        [SELLER, SELLER, null, 'active', null, at(1), '4', '3'],
      );
      assert.deepEqual(shortOf(await list(`collection=${ID}&source=blur`)), ['B900']);
      assert.deepEqual(await list(`collection=${ID}&source=MERCAT`), []);
      assert.deepEqual(shortOf(await list(`collection=${ID}&status=cancelled`)), ['B950']);
      assert.deepEqual(shortOf(await list(`token=ethereum/${EVM}/1&sort=price`)), ['B900', 'B600', 'B500']);
      assert.deepEqual(shortOf(await list(`token=ethereum/${EVM}/2&sort=price`)), ['B800', 'B500']);
      assert.deepEqual(shortOf(await list(`maker=${SELLER}&collection=${ID}&source=blur`)), ['B900']);
      for (const sort of ['price', 'created']) {
        const pages = await intake.service.walk(`/explore/v1/orders?side=bid&collection=${ID}&sort=${sort}&limit=1`);
        assert.equal(new Set(shortOf(pages)).size, 4, sort);
      }
    });

    test('they count in the top bid of tokens, traits and collections, and the provenance names their marketplace', async () => {
      assert.deepEqual(await Promise.all(['1', '2', '3'].map(topOf)), ['B900', 'B800', 'B800']);
      const { stats } = (await intake.service.ok(`/explore/v1/collections/${ID}`)).data;
      assert.deepEqual([shortOf([stats.topBid])[0], stats.topBid.marketplace, stats.spread], ['B500', 'opensea', 0.75]);
      const traits = (await intake.service.ok(`/explore/v1/collections/${ID}/traits`)).data;
      assert.deepEqual(
        traits[0].values.map(({ value, topBid }: any) => [value, shortOf([topBid])[0]]),
        [
          ['Gale', 'B800'],
          ['Calm', 'B500'],
        ],
      );
      const provenance = async (id: string) => {
        const { data } = await intake.service.ok(`/explore/v1/collections/${id}/provenance`);
        const { kind, source } = data.figures.find(({ figure }: any) => figure === 'topBid');
        return [kind, source];
      };
      assert.deepEqual(await provenance(ID), ['reported', 'opensea']);
      assert.deepEqual(await provenance(`solana_${MINT}`), ['reported', 'magic-eden']);
    });

    test('on Solana they name a mint or any token of the collection', async () => {
      const rows = await list(`collection=${MINT}&sort=price`);
      assert.deepEqual(
        rows.map((row: any) => [row.mint, row.tokenId, row.contractAddress, row.kind, row.maker]),
        [
          [ASSET, null, null, 'item', ASSET],
          [null, null, MINT, 'collection', ASSET],
        ],
      );
    });

    test('one of them is read by its id and by the hash of its order, without what only this service has', async () => {
      const [row] = await list(`collection=${ID}&status=cancelled`);
      const { data } = await intake.service.ok(`/explore/v1/orders/${encodeURIComponent(row.orderId)}`);
      assert.deepEqual(
        [data.side, data.status, data.fulfilment, data.listing.marketplace],
        ['bid', 'cancelled', null, 'opensea'],
      );
      assert.deepEqual(data.evidence, [{ kind: 'cancelled', at: at(-2), block: null, tx: `0x${'7a'.repeat(32)}` }]);
      for (const hash of [`0x${'ab'.repeat(32)}`, `0x${'AB'.repeat(32)}`]) {
        const byHash = await intake.service.ok(`/explore/v1/orders/${hash}`);
        assert.deepEqual([shortOf([byHash.data])[0], byHash.data.orderHash], ['B600', `0x${'ab'.repeat(32)}`]);
      }
      const { status, body } = await intake.service.get(`/explore/v1/orders/0x${'ab'.repeat(32)}?token=1`);
      assert.deepEqual(
        [status, body.error.param, body.error.message],
        [400, 'token', 'Query parameter token is only for a bid of this service'],
      );
    });

    test('they are in the activity with the time and the name of their marketplace', async () => {
      const { data } = await intake.service.ok(`/explore/v1/activity?collection=${ID}&kinds=bid`);
      assert.equal(data.length, 4);
      const [row] = data.filter(({ marketplace }: any) => marketplace === 'blur');
      assert.deepEqual(
        [row.kind, row.side, row.from, row.tokenId, row.at, row.price.raw, row.quantity],
        ['bid', 'bid', SELLER, '1', '2026-05-01T00:00:00.000Z', '910', '1'],
      );
    });

    test('one that repeats an order of this service is not stored, and one that was stored before ends', async () => {
      const report = { ...priced(690, { source: 'blur', orderHash: ownHash }) };
      await intake.service.load([report]);
      assert.equal(shortOf(await list(`collection=${ID}&source=blur&sort=price`))[1], 'B690');
      const { status, body } = await intake.send('POST', '/orders', { body: await submissionOf(own) });
      assert.equal(status, 201, JSON.stringify(body));
      const ownId = body.data.orderId;
      const rows = await list(`collection=${ID}&kind=collection&sort=price`);
      assert.deepEqual(
        rows.map((row: any) => [row.orderId, row.marketplace]),
        [
          [ownId, 'MERCAT'],
          [rows[1].orderId, 'opensea'],
        ],
      );
      assert.deepEqual((await list(`collection=${ID}&source=MERCAT`)).length, 1);
      const again = await intake.service.load([report]);
      assert.deepEqual([again.inserted, again.updated, again.unchanged], [0, 0, 1]);
      const { data } = await intake.service.ok(`/explore/v1/orders/${ownHash}`);
      assert.equal(data.orderId, ownId);
      const { data: changes } = await intake.service.ok(`/explore/v1/activity?collection=${ID}&kinds=bid-cancel`);
      assert.deepEqual(
        changes.map((one: any) => [shortOf([one])[0], one.marketplace]),
        [['B690', 'blur']],
      );
    });

    test('a set that is named by traits has the tokens that have them when the bid is reported again', async () => {
      await intake.service.load([
        token({ tokenId: '1', traits: ['Wind: Gale'] }),
        token({ tokenId: '2', traits: ['Wind: Calm'] }),
      ]);
      assert.equal(await topOf('2'), 'B800');
      await intake.service.load([priced(800, { traits: ['Wind: Gale'], quantity: '4', remaining: '3' })]);
      assert.notEqual(await topOf('2'), 'B800');
      assert.deepEqual(shortOf(await list(`token=ethereum/${EVM}/1&kind=trait&sort=price`)), ['B800', 'B600']);
      assert.deepEqual(shortOf(await list(`token=ethereum/${EVM}/2&kind=trait`)), []);
      const response = await fetch(`${intake.service.url}/intake/v1/records`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', authorization: `Bearer ${intake.keys.intake}` },
        body: JSON.stringify(priced(1, { traits: ['Wind: Unknown'] })),
      });
      assert.match(await response.text(), /no stored token has these traits/);
    });

    test('one of them expires by the clock', async () => {
      assert.equal(await topOf('1'), 'B900');
      intake.advance(HOUR_MS);
      assert.equal(await topOf('1'), 'B800');
      assert.deepEqual(shortOf(await list(`collection=${ID}&status=expired`)), ['B900']);
    });
  });
});
