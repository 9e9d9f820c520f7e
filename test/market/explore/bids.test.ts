// Bids in the explore interface: the lists of both sides, one bid with the proof of a token, activity and stream. Nothing of /v1 changes.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { toTokenProof, toTokenRoot } from '../../../src/market/orders/seaport/token-tree.ts';
import type { AssetId } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { BidOptions } from '../../support/chain/signed-orders.ts';
import { accountOf, toBid } from '../../support/chain/signed-orders.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { IntakeClient } from '../../support/service/intake-client.ts';
import { ask, OFFERER, START, startIntake, submissionOf } from '../../support/service/intake-client.ts';
import { EVM, NOW } from '../../support/service/intake.ts';

const ID = `ethereum_${EVM}`;
const WETH = createChains().get('ethereum')?.wrappedNative ?? '';
const FEE = accountOf(9).lower;
const GALES = ['2', '3', '5'] as AssetId[];
const HOUR_S = 3_600;

forEachEngine('bids in the explore interface', (engine) => {
  describe('service', () => {
    const intake = {} as IntakeClient;
    const v1Paths = [
      `/v1/collections/${ID}`,
      `/v1/collections/${ID}/floor`,
      `/v1/collections/${ID}/listings`,
      `/v1/tokens/ethereum/${EVM}/2`,
    ];
    const readV1 = async () => {
      const bodies = [];
      for (const path of v1Paths) bodies.push((await intake.service.ok(path)).data);
      return bodies;
    };
    const ids: Record<string, string> = {};
    let v1Before: unknown;

    const bid = (more: Partial<BidOptions> = {}) =>
      toBid({
        offerer: OFFERER,
        contract: EVM,
        wanted: { tokenId: 2n },
        currency: WETH,
        price: 1_000n,
        start: START,
        end: START + HOUR_S,
        ...more,
      });
    const submit = async (name: string, order: ReturnType<typeof bid>, criteria?: object) => {
      const { status, body } = await intake.send('POST', '/orders', {
        body: await submissionOf(order, criteria && { criteria }),
      });
      assert.equal(status, 201, `${name}: ${JSON.stringify(body)}`);
      ids[name] = body.data.orderId;
      return body;
    };
    const namesOf = (rows: any[]) =>
      rows.map(({ orderId }) => Object.entries(ids).find(([, id]) => id === orderId)?.[0] ?? orderId);
    const list = async (query: string) => (await intake.service.ok(`/explore/v1/orders?side=bid&${query}`)).data;

    before(async () => {
      Object.assign(intake, await startIntake(engine));
      const token = (tokenId: string, wind: string) => ({
        kind: 'token',
        chain: 'ethereum',
        contractAddress: EVM,
        tokenId,
        traits: [{ name: 'Wind', value: wind }],
      });
      await intake.service.load([
        { kind: 'collection', chain: 'ethereum', contractAddress: EVM, name: 'A' },
        token('1', 'Calm'),
        ...GALES.map((tokenId) => token(tokenId, 'Gale')),
      ]);
      await submit('ask', ask({ tokenId: 2n, price: 5_000n }));
      v1Before = await readV1();
      await submit('item', bid({ price: 900n }));
      await submit('any', bid({ wanted: 'any', quantity: 2n, price: 2_000n, fees: [{ recipient: FEE, amount: 50n }] }));
      await submit('gales', bid({ wanted: { root: toTokenRoot(GALES) }, price: 950n }), {
        traits: [{ name: 'Wind', value: 'Gale' }],
      });
      const some = ['1', '3'] as AssetId[];
      await submit('some', bid({ wanted: { root: toTokenRoot(some) }, price: 800n }), { tokenIds: some });
    });
    after(() => intake.service.close());

    test('a bid is no listing and in no figure of /v1', async () => {
      assert.deepEqual(await readV1(), v1Before);
      const listings = await intake.service.ok(`/explore/v1/orders?collection=${ID}`);
      assert.deepEqual(namesOf(listings.data), ['ask']);
      const { status } = await intake.service.get(`/v1/tokens/ethereum/${EVM}/99`);
      await submit('unknown token', bid({ wanted: { tokenId: 99n }, price: 1n }));
      assert.deepEqual([status, (await intake.service.get(`/v1/tokens/ethereum/${EVM}/99`)).status], [404, 404]);
      await intake.send('POST', `/orders/${ids['unknown token']}/cancel`, { key: intake.keys.intake, body: {} });
    });

    test('the response to the submission of a bid has the bidder as buyer, and its terms', async () => {
      const { body } = await intake.send('GET', `/orders/${ids['any']}`);
      const { data, order } = body;
      assert.deepEqual(
        [
          data.tokenId,
          data.seller,
          data.buyer,
          data.price.raw,
          order.side,
          order.proceeds.raw,
          order.quantity,
          order.root,
        ],
        [null, null, OFFERER, '1000', 'bid', '975', '2', null],
      );
      const explained = await intake.send('GET', `/orders/${ids['gales']}/explain`);
      assert.equal(explained.body.data.status, 'active');
    });

    test('bids are listed with what they are for, the best for a seller first', async () => {
      const rows = await list(`collection=${ID}&sort=price`);
      assert.deepEqual(namesOf(rows), ['any', 'gales', 'item', 'some']);
      assert.deepEqual(
        rows.map((row: any) => [
          row.side,
          row.kind,
          row.criteria?.type ?? null,
          row.tokenId,
          row.price.raw,
          row.proceeds.raw,
        ]),
        [
          ['bid', 'collection', 'collection', null, '1000', '975'],
          ['bid', 'trait', 'trait', null, '950', '950'],
          ['bid', 'item', null, '2', '900', '900'],
          ['bid', 'trait', 'tokens', null, '800', '800'],
        ],
      );
      const [any, gales] = rows;
      assert.deepEqual(gales.criteria, {
        type: 'trait',
        traits: [{ name: 'Wind', value: 'Gale' }],
        count: 3,
        root: toTokenRoot(GALES),
      });
      assert.deepEqual(
        [any.quantity, any.remaining, any.maker, any.buyer, any.seller, any.status, any.dormant, any.marketplace],
        ['2', '2', OFFERER, OFFERER, null, 'active', null, 'MERCAT'],
      );
    });

    test('bids are found by kind, maker and token: a token has the bids that its owner can accept', async () => {
      assert.deepEqual(namesOf(await list(`collection=${ID}&sort=price&token=ethereum/${EVM}/3`)), [
        'any',
        'gales',
        'some',
      ]);
      assert.deepEqual(namesOf(await list(`collection=${ID}&sort=price&token=ethereum/${EVM}/2`)), [
        'any',
        'gales',
        'item',
      ]);
      assert.deepEqual(namesOf(await list(`collection=${ID}&sort=price&token=ethereum/${EVM}/7`)), ['any']);
      assert.deepEqual(namesOf(await list(`collection=${ID}&kind=item`)), ['item']);
      assert.deepEqual(
        namesOf(await list(`collection=${ID}&kind=trait`)).toSorted((a, b) => (a < b ? -1 : 1)),
        ['gales', 'some'],
      );
      assert.deepEqual(namesOf(await list(`collection=${ID}&kind=collection&sort=price`)), ['any']);
      assert.deepEqual(
        namesOf(await list(`maker=${OFFERER}`)).toSorted((a, b) => (a < b ? -1 : 1)),
        ['any', 'gales', 'item', 'some'],
      );
      assert.deepEqual(await list(`maker=${FEE}`), []);
      assert.deepEqual(await list(`collection=${ID}&source=opensea`), []);
      assert.deepEqual(namesOf(await list(`collection=${ID}&status=cancelled`)), ['unknown token']);
      const kind = await intake.service.get(`/explore/v1/orders?collection=${ID}&kind=item`);
      assert.deepEqual([kind.status, kind.body.error.param], [400, 'kind']);
    });

    test('nothing is offered for the tokens of a wallet on a chain that is not followed', async () => {
      assert.deepEqual((await intake.service.ok(`/explore/v1/wallets/${OFFERER}/offers`)).data, []);
      const { status, body } = await intake.service.get('/explore/v1/wallets/nobody/offers');
      assert.deepEqual([status, body.error.param], [400, 'address']);
    });

    test('pages of bids have each bid once, in every sort', async () => {
      for (const sort of ['price', 'created', 'expires']) {
        const rows = await intake.service.walk(`/explore/v1/orders?side=bid&collection=${ID}&sort=${sort}&limit=1`);
        assert.equal(new Set(namesOf(rows)).size, 4, sort);
        assert.equal(rows.length, 4, sort);
      }
    });

    test('a bid has what a seller needs to accept it, with the proof of the token', async () => {
      const read = async (name: string, query = '') => intake.service.get(`/explore/v1/orders/${ids[name]}${query}`);
      const { data } = (await read('gales', '?token=3')).body;
      assert.deepEqual(data.fulfilment.criteriaProof, toTokenProof(GALES, '3' as AssetId));
      assert.equal(
        data.fulfilment.parameters.consideration[0].identifierOrCriteria,
        BigInt(toTokenRoot(GALES)).toString(),
      );
      assert.deepEqual([data.side, data.kind, data.listing.buyer, data.buyerPrice], ['bid', 'trait', OFFERER, null]);
      assert.equal((await read('gales')).body.data.fulfilment.criteriaProof, null);
      assert.deepEqual((await read('any', '?token=77')).body.data.fulfilment.criteriaProof, []);
      for (const [name, query] of [
        ['gales', '?token=1'],
        ['item', '?token=2'],
        ['ask', '?token=2'],
      ] as const) {
        const { status, body } = await read(name, query);
        assert.deepEqual([status, body.error?.param], [400, 'token'], name);
      }
    });

    test('bids are in the activity and the stream with their side', async () => {
      const { data } = await intake.service.ok(`/explore/v1/activity?collection=${ID}&kinds=bid,bid-cancel`);
      assert.deepEqual(data.map(({ kind, side, from, tokenId }: any) => [kind, side, from, tokenId]).slice(-3), [
        ['bid', 'bid', OFFERER, null],
        ['bid', 'bid', OFFERER, null],
        ['bid', 'bid', OFFERER, '2'],
      ]);
      assert.equal(data[0].kind, 'bid-cancel');
    });

    test('a sale by an accepted bid has the bid in the explore interface, and no listing in /v1', async () => {
      await intake.service.load([
        {
          kind: 'sale',
          chain: 'ethereum',
          contractAddress: EVM,
          tokenId: '3',
          price: '950',
          seller: FEE,
          buyer: OFFERER,
          timestamp: new Date(NOW - 1_000).toISOString(),
          source: 'mercat',
          listingId: ids['gales'],
          tx: `0x${'7a'.repeat(32)}`,
          logIndex: 3,
        },
      ]);
      const { data } = await intake.service.ok(`/v1/collections/${ID}/sales`);
      assert.deepEqual([data.length, data[0].orderId], [1, null]);
      const activity = await intake.service.ok(`/explore/v1/activity?collection=${ID}&kinds=sale`);
      assert.deepEqual([activity.data[0].orderId, activity.data[0].side], [ids['gales'], 'bid']);
    });

    test('the top bid of a token is the best that its owner can accept, and that of a collection the best for any token', async () => {
      const tokenOf = async (tokenId: string) =>
        (await intake.service.ok(`/explore/v1/tokens/ethereum/${EVM}/${tokenId}`)).data;
      const stats = async () => (await intake.service.ok(`/explore/v1/collections/${ID}`)).data.stats;
      const traits = async () => {
        const { data } = await intake.service.ok(`/explore/v1/collections/${ID}/traits`);
        return data[0].values.map(({ value, topBid }: any) => [value, topBid?.proceeds.raw ?? null]);
      };
      const topOf = (bid: any) => bid && [namesOf([bid])[0], bid.kind, bid.proceeds.raw, bid.price.raw];
      assert.deepEqual(topOf((await tokenOf('3')).topBid), ['any', 'collection', '975', '1000']);
      const { topBid, spread } = await stats();
      assert.deepEqual([topOf(topBid), spread], [['any', 'collection', '975', '1000'], 0.805]);
      assert.deepEqual(await traits(), [
        ['Gale', '975'],
        ['Calm', '975'],
      ]);
      await intake.send('POST', `/orders/${ids['any']}/cancel`, { key: intake.keys.intake, body: {} });
      assert.deepEqual(await traits(), [
        ['Gale', '950'],
        ['Calm', null],
      ]);
      const tops = async () => {
        const { data } = await intake.service.ok(`/explore/v1/collections/${ID}/tokens?sort=id`);
        return data.map((token: any) => [token.tokenId, token.topBid && namesOf([token.topBid])[0]]);
      };
      assert.deepEqual(await tops(), [
        ['1', 'some'],
        ['2', 'gales'],
        ['3', 'gales'],
        ['5', 'gales'],
      ]);
      await intake.send('POST', `/orders/${ids['gales']}/cancel`, { key: intake.keys.intake, body: {} });
      assert.deepEqual(await tops(), [
        ['1', 'some'],
        ['2', 'item'],
        ['3', 'some'],
        ['5', null],
      ]);
      const after = await stats();
      assert.deepEqual([after.topBid, after.spread], [null, null]);
      intake.advance(HOUR_S * 1_000);
      assert.deepEqual(
        (await tops()).flatMap(([, top]: any) => top ?? []),
        [],
      );
      assert.deepEqual(await readV1().then(([, floor]) => floor.askFloor), null);
    });
  });
});
