// A simulation trades with Seaport, LooksRare, Blur and pools of Sudoswap on a local chain. A service follows this chain, and also reads a
// simulated OpenSea that reports the same sales. The service must serve exactly the sales of the chain. The test reads the expected sales
// from the chain without the service's code.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readHeight } from '../../devnet/chain.ts';
import { startDevnet, startSimulation } from '../../devnet/devnet.ts';
import { toListingIdOfOrder } from '../../src/market/index/row-keys.ts';
import type { ExpectedSale } from '../support/chain/expected-state.ts';
import { readExpectedState } from '../support/chain/expected-state.ts';
import { createOneEngine } from '../support/engines/one-engine.ts';
import type { ServedSale } from '../support/replay/opensea.ts';
import { makeCollection, makeHash, openseaRoutes } from '../support/replay/opensea.ts';
import { startReplayServer } from '../support/replay/replay.ts';
import { startTestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';
import { followCollection, runTask } from './synced-collection.ts';

const SEED = Number(process.env['DEVNET_SEED'] ?? 5);
const SIZE = { people: 4, collections: 1, tokens: 16, editions: 0 };
const SLUG = 'lantern-moths';
/** The most steps that the simulation makes until each marketplace has a sale. If they are not enough, the test fails. */
const STEPS_MAX = 400;
const STEPS_MIN = 20;
const STEPS_AFTER = 12;
const LIMIT_MS = 60_000;

const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers.toReversed()) await close();
});

test('a sale of any protocol that OpenSea also reports is served once, with price and parties, even after reorganisations', async (t) => {
  const devnet = await startDevnet({ networks: ['ethereum'], seed: SEED, size: SIZE });
  closers.push(devnet.stop);
  const [network] = devnet.networks;
  assert.ok(network);
  const { world } = network;
  const [collection] = world.collections;
  assert.ok(collection && world.others);
  const contract = collection.address;
  const addresses = new Map<string, string>([
    [world.others.looksRare.address, 'looksrare'],
    [world.others.blur.address, 'blur'],
    ...[...world.others.pools.values()].map(({ address }) => [address, 'sudoswap'] as const),
  ]);
  const served = makeCollection({ slug: SLUG, contract, chain: 'ethereum', symbol: 'ETH' });
  const replay = await startReplayServer(t, openseaRoutes([served]));
  const engine = await createOneEngine();
  closers.push(engine.close);
  const service = await startTestService({
    settings: {
      ...engine.settings,
      RPC_URL_ETHEREUM: world.chain.url,
      CHAIN_POLL_MS: '200',
      OPENSEA_API_KEY: 'a-key',
      OPENSEA_URL: replay.url,
      OPENSEA_HOURLY_BUDGET: '1000000',
    },
    logLevel: 'warn',
  });
  closers.push(service.close);
  const input = { chain: 'ethereum', address: contract, fromBlock: 0, opensea: SLUG };
  await followCollection(service, { sources: ['opensea'], input });
  const marketplace = { postOrder: async () => null, postBid: async () => null };
  const { simulation, book } = await startSimulation(network, { seed: SEED, orders: 12, marketplace, reorgShare: 0.1 });
  await simulation.post(book);

  /** The sales for native or wrapped currency, except sales of bundles, in the order in which they are served. */
  const readSales = async () => {
    const { sales } = await readExpectedState(world, []);
    return sales.filter(({ bundle, currency }) => !bundle && currency !== 'other').toReversed();
  };
  const marketplaceOf = ({ source }: ExpectedSale) => addresses.get(source) ?? 'seaport';
  const countEach = (sales: readonly ExpectedSale[]) => Object.groupBy(sales, marketplaceOf);
  const trade = async () => {
    for (let step = 0; step < STEPS_MAX; step += 1) {
      await simulation.step();
      if (step % 10 === 0 && step >= STEPS_MIN && Object.keys(countEach(await readSales())).length === 4) return;
    }
    assert.fail('a marketplace has no sale');
  };
  const report = async () => {
    const blocks = await Promise.all((await readSales()).map(async (sale) => ({ sale, soldAt: await timeOf(sale) })));
    served.sales = blocks.map(({ sale, soldAt }): ServedSale => {
      const [token] = sale.tokens;
      return { tokenId: String(token?.tokenId), raw: sale.price, tx: sale.tx, soldAt };
    });
    const { state } = await runTask(service, 'opensea-sales');
    assert.equal(state, 'ok');
  };
  const timeOf = async ({ blockNumber }: ExpectedSale) => {
    const block = await world.chain.rpc.call<{ timestamp: string }>('eth_getBlockByNumber', toHex(blockNumber), false);
    return Number(block.timestamp);
  };
  const toRow = (sale: ExpectedSale, orderId: string | null) =>
    [sale.tx, sale.tokens[0]?.tokenId, sale.price, sale.seller, sale.buyer, orderId].join(' ');
  const compare = async ({ isReported }: { isReported: boolean }) => {
    const height = await readHeight(world.chain);
    await until(
      async () => (await service.operate('status', {})).body.result.chains[0]?.block === height,
      LIMIT_MS,
      `block ${height} was not read`,
    );
    const expected = await Promise.all(
      (await readSales()).map(async (sale) => {
        const orderHash = makeHash(await timeOf(sale));
        const orderId = isReported ? toListingIdOfOrder({ source: 'opensea', chain: 'ethereum', orderHash }) : null;
        return { row: toRow(sale, orderId), marketplace: marketplaceOf(sale) };
      }),
    );
    let rows: any[] = [];
    const isServed = async () => {
      rows = await service.walk(`/v1/collections/ethereum_${contract}/sales`);
      return (
        rows.map(toServedRow).sort().join('\n') ===
        expected
          .map(({ row }) => row)
          .sort()
          .join('\n')
      );
    };
    await until(isServed, LIMIT_MS, 'the sales are not served').catch(() => {
      assert.deepEqual(rows.map(toServedRow).sort(), expected.map(({ row }) => row).sort());
    });
    for (const row of rows) {
      const { marketplace: of } = expected.find((one) => one.row === toServedRow(row)) ?? assert.fail();
      if (of !== 'seaport') assert.equal(row.marketplace, of);
    }
  };

  await trade();
  await compare({ isReported: false });
  await report();
  await compare({ isReported: true });
  await simulation.reorganise(Math.min(8, simulation.reorgDepth()));
  for (let step = 0; step < STEPS_AFTER; step += 1) await simulation.step();
  await report();
  await compare({ isReported: true });
  const final = await readSales();
  t.diagnostic(
    JSON.stringify(Object.fromEntries(Object.entries(countEach(final)).map(([name, of]) => [name, of?.length]))),
  );
  const bundled = (await readExpectedState(world, [])).sales.filter(
    ({ bundle, currency }) => bundle && currency !== 'other',
  );
  const { data } = await service.ok(`/v1/collections/ethereum_${contract}`);
  assert.equal(data.stats.sales.allTime, final.length + bundled.length, 'a sale is counted twice');
});

function toServedRow({ tx, tokenId, price, seller, buyer, orderId }: any): string {
  return [tx, tokenId, price.raw, seller, buyer, orderId].join(' ');
}

function toHex(number: number): string {
  return `0x${number.toString(16)}`;
}
