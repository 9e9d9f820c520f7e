// Runs a service that follows one collection on a local chain and at two marketplaces. Compares the responses about the collection
// with the expected responses. changes.ts has the actions that change orders and listings.

import assert from 'node:assert/strict';
import type { Address, Hex } from 'viem';
import type { SeededRandom } from '../../../devnet/random.ts';
import { readHeight } from '../../../devnet/chain.ts';
import type { Listing } from '../../../devnet/chain-state.ts';
import { toWireComponents } from '../../../devnet/orders.ts';
import type { Person } from '../../../devnet/world.ts';
import type { ExpectedState } from '../../support/chain/expected-state.ts';
import { readExpectedState } from '../../support/chain/expected-state.ts';
import type { Book, BookCounts, ExpectedMarket, MarketplaceView, OwnOrder } from './expected.ts';
import { applyFetch, computeMarket } from './expected.ts';
import type { MarketplaceListing, Marketplaces } from './marketplaces.ts';
import { createMarketplaces, servedBy, marketplaceRoutes } from './marketplaces.ts';
import { startReplayServer } from '../../support/replay/replay.ts';
import { sendToSocket } from '../../support/service/service-process.ts';
import { until } from '../../support/until.ts';
import { followCollection, runTask } from '../synced-collection.ts';
import { findDifferences, findWindowDifferences } from './differences.ts';
import type { MixedWorld } from './chain.ts';
import { startMixedWorld } from './chain.ts';
import type { TestService } from '../../support/service/service.ts';
import { startTestService } from '../../support/service/service.ts';

const LIMIT_MS = 60_000;
/** The longest wait until a new block has taken effect and every cached response is newer than the block. */
const SETTLE_MS = 5_000;
const SLUG = 'paper-moths';
/** The platform fee, which is the default of the service, and the creator fee that OpenSea reports for the test collection. */
const FEES = { platformBps: 200n, royaltyBps: 475n };
/** The number of random tokens whose responses `compare` compares. */
const TOKENS_COMPARED = 8;

export type MarketplaceName = 'opensea' | 'magicEden';
export const MARKETPLACE_NAMES = ['opensea', 'magicEden'] as const;
const SOURCES = ['opensea', 'magic-eden'];
const TASKS: Record<MarketplaceName, string> = { opensea: 'opensea-listings', magicEden: 'magic-eden-asks' };

export type MixedBook = {
  random: SeededRandom;
  mixed: MixedWorld;
  marketplaces: Marketplaces;
  own: readonly OwnOrder[];
  /** By marketplace, the listings that the service is expected to have accepted. */
  accepted: Readonly<Record<MarketplaceName, MarketplaceView>>;
  /** The expected state of the chain at the last call of `catchUp`. */
  chainState(): ExpectedState;
  holderOf(tokenId: string): Person | undefined;
  /** Moves time forward for the service, the marketplaces and the chain. */
  pass(ms: number): void;
  /** Submits signed orders. Fails unless the service accepts each of them. */
  post(listings: readonly Listing[]): Promise<void>;
  /** Runs a marketplace's task once. `isAccepted`: whether the service is expected to accept the fetch as complete. */
  sync(name: MarketplaceName, expected: { isAccepted: boolean }): Promise<void>;
  /** Runs the tasks of both marketplaces. Fails unless the service accepts both fetches as complete. */
  syncAll(): Promise<void>;
  catchUp(): Promise<void>;
  /** Compares the responses with the expected responses. Returns how often each case of `BookCounts` occurs in the book. */
  compare(): Promise<BookCounts>;
  /** Compares the listings window under every name of the collection and with several page sizes. */
  compareAllWays(): Promise<void>;
};

export async function startMixedBook(options: {
  seed: number;
  random: SeededRandom;
  settings: Record<string, string>;
  closers: (() => unknown)[];
}): Promise<MixedBook> {
  const { random, closers } = options;
  const mixed = await startMixedWorld(options.seed, random);
  closers.push(mixed.devnet.stop);
  const { world, collection } = mixed;
  const { clock } = mixed.devnet;
  const contract = collection.address;
  const marketplaces = createMarketplaces(SLUG, contract);
  const replay = await startReplayServer(
    { after: (close) => closers.push(close as () => unknown) },
    marketplaceRoutes(marketplaces),
  );
  const service = await startTestService({
    settings: {
      ...options.settings,
      RPC_URL_ETHEREUM: world.chain.url,
      CHAIN_POLL_MS: '250',
      OPENSEA_API_KEY: 'a-key',
      OPENSEA_URL: replay.url,
      OPENSEA_HOURLY_BUDGET: '1000000',
      MAGICEDEN_EVM_URL: replay.url,
    },
    clock,
    logLevel: 'warn',
  });
  closers.push(service.close);
  await follow(service, contract);

  const own: OwnOrder[] = [];
  const ended = new Set<Hex>();
  const complete = new Set<Hex>();
  const accepted: Record<MarketplaceName, MarketplaceView> = {
    opensea: { source: 'opensea', rows: new Map() },
    magicEden: { source: 'magic-eden', rows: new Map() },
  };
  let chainState = await readExpectedState(world, []);
  let chainStateKey = '';

  let fetches = 0;
  /**
   * Reads the state of the chain again if there are new blocks, orders or fetched listings. When only time passes, no read is
   * needed, because `compute` applies start and end times.
   */
  const readChainState = async (height: number) => {
    const key = `${height} blocks, ${own.length} orders, ${fetches} fetches`;
    if (chainStateKey === key) return;
    const ownListings = own.map(({ listing }) => listing);
    const mirrored = Object.values(accepted).flatMap(({ rows }) => [...rows.values()].map(toOrderOf));
    chainState = await readExpectedState(world, [...mirrored, ...ownListings]);
    chainStateKey = key;
  };
  const catchUp = async () => {
    const height = await readHeight(world.chain);
    const isRead = async () => {
      const { body } = await service.operate('status', {});
      return body.result.chains.find((one: { chain: string }) => one.chain === 'ethereum')?.block === height;
    };
    await until(isRead, LIMIT_MS, `block ${height} was not read`);
    await readChainState(height);
  };
  const postOne = async (listing: Listing) => {
    const order = { parameters: toWireComponents(listing.components), signature: listing.signature };
    const from = clock();
    const { status, body } = await sendToSocket(service.socketPath, 'POST', '/intake/v1/orders', {
      chain: 'ethereum',
      order,
    });
    assert.equal(status, 201, JSON.stringify(body));
    const { orderId, timestamp } = body.data;
    const at = Date.parse(timestamp);
    assert.ok(at >= from && at <= clock() + 100, `${timestamp} is not the time of the submission`);
    own.push({ listing, orderId, timestamp });
  };
  const sync: MixedBook['sync'] = async (name, { isAccepted }) => {
    const fetched = servedBy(marketplaces[name]);
    const now = clock();
    const task = await runTask(service, TASKS[name]);
    assert.equal(task.state, isAccepted ? 'ok' : 'partial', JSON.stringify(task));
    for (const { hash, status } of fetched) if (status === 'FULFILLED' || status === 'CANCELLED') ended.add(hash);
    if (name === 'opensea') for (const { hash } of fetched) complete.add(hash);
    applyFetch(accepted[name], fetched, { isComplete: isAccepted, now });
    fetches += 1;
  };
  const compute = (): ExpectedMarket => {
    const states = chainState.orders;
    const book: Book = {
      chain: 'ethereum',
      contract,
      own,
      states,
      holderOf: (tokenId) => chainState.owners.get(`${contract}:${tokenId}`) ?? null,
      accepted: Object.values(accepted),
      ended,
      complete,
      fees: FEES,
    };
    return computeMarket(book, clock());
  };

  return {
    random,
    mixed,
    marketplaces,
    own,
    accepted,
    chainState: () => chainState,
    holderOf: (tokenId) =>
      world.people.find(({ address }) => address === chainState.owners.get(`${contract}:${tokenId}`)),
    pass: mixed.devnet.skip,
    post: async (listings) => {
      for (const listing of listings) await postOne(listing);
    },
    sync,
    syncAll: async () => {
      for (const name of MARKETPLACE_NAMES) await sync(name, { isAccepted: true });
    },
    catchUp,
    compare: async () => {
      await catchUp();
      const ids = Array.from({ length: collection.size }, (_, index) => String(index + 1));
      const tokens = random.shuffle(ids).slice(0, TOKENS_COMPARED);
      let differences: string[] = [];
      const isEqual = async () => {
        differences = await findDifferences(service, { contract, market: compute(), chainState, tokens });
        return differences.length === 0;
      };
      await until(isEqual, SETTLE_MS, 'the responses did not become as expected').catch((error: unknown) => {
        assert.fail([String(error), ...differences.slice(0, 6)].join('\n'));
      });
      return compute().counts;
    },
    compareAllWays: async () => {
      const id = `ethereum_${contract}`;
      for (const [name, limit] of [
        [id, 9],
        [contract, 37],
        [SLUG, null],
        [id.toUpperCase().replace('ETHEREUM_0X', 'ethereum_0x'), 99],
      ] as const) {
        const differences = await findWindowDifferences(service, { name, limit, market: compute() });
        assert.deepEqual(differences, [], `wrong listings of ${name} with the limit ${limit}`);
      }
    },
  };
}

/**
 * The order behind a marketplace listing of one ERC-721 token. It has the fields from which the order's state on the chain is
 * derived.
 */
function toOrderOf(listing: MarketplaceListing): Listing {
  const [offer] = listing.components.offer;
  assert.ok(offer);
  const token = { standard: 'erc721', contract: offer.token, tokenId: offer.identifierOrCriteria, units: 1n } as const;
  return { hash: listing.hash, components: listing.components, signature: '0x', tokens: [token] };
}

async function follow(service: TestService, contract: Address): Promise<void> {
  const names = { opensea: SLUG, magiceden: SLUG };
  await followCollection(service, {
    sources: SOURCES,
    input: { chain: 'ethereum', address: contract, fromBlock: 0, ...names },
  });
  await runTask(service, 'opensea-collections');
  const { data } = await service.ok(`/v1/collections/${SLUG}`);
  assert.equal(data.royaltyBps, Number(FEES.royaltyBps));
}
