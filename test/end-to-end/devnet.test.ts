// A long seeded simulation on two local chains with the real Seaport contracts. The service follows the chains through endpoints
// that fail and return wrong data. It is killed at random points. At the end it must serve the final state of the chains, which the
// test computes without the service's code. DEVNET_ACTIONS sets the number of actions, DEVNET_SEED the random seed.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../../devnet/random.ts';
import { mine } from '../../devnet/chain.ts';
import { startDevnet, startSimulation } from '../../devnet/devnet.ts';
import type { Listing } from '../../devnet/chain-state.ts';
import type { Simulation, Marketplace } from '../../devnet/simulation.ts';
import { toCriteria } from '../../devnet/intake-client.ts';
import type { SignedOrder } from '../../devnet/orders.ts';
import { toWireComponents } from '../../devnet/orders.ts';
import { readExpectedState } from '../support/chain/expected-state.ts';
import type { FaultyEndpoint } from '../support/chain/faulty-endpoint.ts';
import { startFaultyEndpoint } from '../support/chain/faulty-endpoint.ts';
import type { ServiceProcess } from '../support/service/service-process.ts';
import { sendToSocket, startServiceProcess } from '../support/service/service-process.ts';
import type { OneEngine } from '../support/engines/one-engine.ts';
import { createOneEngine } from '../support/engines/one-engine.ts';

const SEED = Number(process.env['DEVNET_SEED'] ?? 1);
const ACTIONS = Number(process.env['DEVNET_ACTIONS'] ?? 40);
const NETWORKS: readonly string[] = ['ethereum', 'base'];
const BOOK_SIZE = 60;
/** The probability that the service is killed after an action. */
const KILL_SHARE = 0.05;
/** The probability that an endpoint corrupts or fails a request. */
const FAULT_SHARE = 0.15;
/** The time limit for the service to catch up. Only a service that hangs needs longer. */
const CATCH_UP_MS = 120_000;
const POLL_MS = 200;
/** The probability that an action is a reorganisation. */
const REORG_SHARE = 0.04;

const cleanups: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const clean of cleanups.toReversed()) await clean();
});

test('after faults and kills, the service serves the orders, owners, floors and sales of the final chain state', async (t) => {
  const devnet = await startDevnet({ networks: NETWORKS, seed: SEED });
  cleanups.push(devnet.stop);
  const engine = await createOneEngine();
  cleanups.push(engine.close);
  const settings: OneEngine['settings'] = { ...engine.settings, CHAIN_POLL_MS: '200', TRUST_PROXY: 'true' };
  const faultyEndpoints: FaultyEndpoint[] = [];
  for (const { world } of devnet.networks) {
    const endpoint = await startFaultyEndpoint(world.chain.url, { seed: SEED, faultShare: FAULT_SHARE });
    faultyEndpoints.push(endpoint);
    cleanups.push(endpoint.close);
    settings[`RPC_URL_${world.chain.id.toUpperCase()}`] = `${endpoint.url},${world.chain.url}`;
  }
  let service: ServiceProcess = await startServiceProcess(settings);
  cleanups.push(() => service.stop());
  const callService = (method: string, target: string, body?: object) =>
    sendUntilServed(() => service.socketPath, method, target, body);

  for (const { world } of devnet.networks) {
    for (const { address, name } of world.collections) {
      const input = { chain: world.chain.id, address, name, fromBlock: 0 };
      const added = await callService('POST', '/operator/v1/collections.add', input);
      assert.equal(added.status, 200, JSON.stringify(added.body));
    }
  }
  await until('the backfills of all collections are complete', async () => {
    const { body } = await callService('POST', '/operator/v1/collections.list', {});
    return body.result.every((row: { state: string }) => row.state === 'live');
  });

  const orderIds = new Map<string, string>();
  const post = async (chain: string, { components, signature, hash }: SignedOrder, more: object = {}) => {
    const order = { parameters: toWireComponents(components), signature };
    const { status, body } = await callService('POST', '/intake/v1/orders', { chain, order, ...more });
    if (status === 201) orderIds.set(hash, body.data.orderId);
    // The code `duplicate` means that an earlier attempt stored the order. Its response was lost when the process was killed.
    return status === 201 || body.error.code === 'duplicate' ? null : `${body.error.code}: ${body.error.message}`;
  };
  const marketplace: Marketplace = {
    postOrder: ({ chain, listing }) => post(chain, listing),
    postBid: ({ chain, bid }) => post(chain, bid, toCriteria(bid.wanted)),
  };
  const simulations: Simulation[] = [];
  for (const network of devnet.networks) {
    const options = { seed: SEED, orders: BOOK_SIZE, marketplace, reorgShare: REORG_SHARE };
    const { simulation, book } = await startSimulation(network, options);
    await simulation.post(book);
    assert.deepEqual(simulation.rejected, [], 'orders that were posted before the first action were rejected');
    simulations.push(simulation);
  }
  const random = createRandom(SEED * 7);
  let kills = 0;
  for (let action = 0; action < ACTIONS; action += 1) {
    await simulations[action % simulations.length]?.step();
    if (random.below(1_000) >= KILL_SHARE * 1_000) continue;
    kills += 1;
    await service.kill();
    service = await startServiceProcess(settings);
  }
  await simulations[0]?.reorganise(10);
  const rejectionCodes = simulations.flatMap((simulation) =>
    simulation.rejected.map(({ reason }) => reason.split(':')[0]),
  );
  t.diagnostic(`${ACTIONS} actions, ${kills} kills, rejected ${JSON.stringify(countEach(rejectionCodes))}`);
  t.diagnostic(`faults ${JSON.stringify(faultyEndpoints.map(({ counts }) => counts))}`);

  for (const endpoint of faultyEndpoints) endpoint.set({ faultShare: 0 });
  for (const [index, { world }] of devnet.networks.entries()) {
    await mine(world.chain);
    const simulation = simulations[index];
    assert.ok(simulation);
    await compare(world, simulation.accepted);
  }
  for (const audit of ['audit', 'audit.replay']) {
    const { status, body } = await callService('POST', `/operator/v1/${audit}`, audit === 'audit' ? { sample: 0 } : {});
    assert.equal(status, 200, JSON.stringify(body));
    const { drift, orders, tokens, unreadable, differences } = body.result;
    t.diagnostic(`${audit}: drift ${drift} over ${orders} orders and ${tokens} tokens`);
    assert.deepEqual({ drift, unreadable, differences }, { drift: 0, unreadable: 0, differences: [] });
    assert.ok(orders > 0 && tokens > 0);
  }

  async function compare(world: Simulation['world'], accepted: readonly Listing[]): Promise<void> {
    const chain = world.chain.id;
    const chainState = await readExpectedState(world, accepted);
    await until(`the service has read ${chain} to its head`, async () => {
      const { body } = await callService('POST', '/operator/v1/status', {});
      return body.result.chains?.find((one: { chain: string }) => one.chain === chain)?.block === chainState.height;
    });
    await until(`the service serves the state of ${chain}`, async () => {
      const found = await findDifferences();
      return found.length === 0 ? true : found.slice(0, 12).join('\n');
    });

    async function findDifferences(): Promise<string[]> {
      const expectedState = await readExpectedState(world, accepted);
      const found: string[] = [];
      const expect = (subject: string, actual: unknown, expected: unknown) => {
        if (actual !== expected) found.push(`${subject}: ${String(actual)}, should be ${String(expected)}`);
      };
      for (const { hash } of accepted) {
        const id = orderIds.get(hash);
        const expected = expectedState.orders.get(hash)?.status;
        if (id === undefined || expected === undefined) continue;
        const { body } = await callService('GET', `/intake/v1/orders/${id}`);
        const actual = body.order.dormant === null ? body.data.status : 'dormant';
        expect(`order ${id}`, actual, expected);
      }
      for (const [token, owner] of expectedState.owners) {
        const [contract, tokenId] = token.split(':');
        const { data } = await readJson(`${service.url}/v1/tokens/${chain}/${contract}/${tokenId}`);
        expect(`owner of ${token}`, data?.owner.address ?? null, data?.listing ? data.listing.seller : owner);
        if (data?.listing) expect(`seller of ${token}`, data.listing.seller, owner);
      }
      for (const { address } of world.collections) {
        const id = `${chain}_${address.toLowerCase()}`;
        const { data: floor } = await readJson(`${service.url}/v1/collections/${id}/floor`);
        expect(`floor of ${id}`, floor.askFloor?.raw ?? null, expectedState.floors.get(address)?.toString() ?? null);
        // A sale of several tokens is not served, because it has no price for a single token.
        const sales = expectedState.sales.flatMap(({ tokens: [token, ...others], ...sale }) =>
          token?.contract === address && others.length === 0 && sale.currency !== 'other' ? [{ ...sale, token }] : [],
        );
        const served = await readAllPages(`${service.url}/v1/collections/${id}/sales`);
        expect(
          `sales of ${id}`,
          served
            .map(({ tx, tokenId, price, seller, buyer }) => [tx, tokenId, price.raw, seller, buyer].join(' '))
            .sort()
            .join('\n'),
          sales
            .map(({ tx, token, price, seller, buyer }) => [tx, token.tokenId, price, seller, buyer].join(' '))
            .sort()
            .join('\n'),
        );
      }
      return found;
    }
  }
});

let requestCount = 0;

/** Reads JSON. Each request has a different client address in X-Forwarded-For, so that no rate limit applies. */
async function readJson(url: string): Promise<any> {
  requestCount += 1;
  const address = `10.${requestCount >> 16}.${(requestCount >> 8) & 255}.${requestCount & 255}`;
  const response = await fetch(url, { headers: { 'x-forwarded-for': address } });
  return response.json();
}

async function readAllPages(url: string): Promise<any[]> {
  const rows: any[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: any = await readJson(`${url}?limit=100${cursor && `&cursor=${cursor}`}`);
    rows.push(...page.data);
    cursor = page.pagination.nextCursor;
  }
  return rows;
}

function countEach(words: readonly (string | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word ?? ''] = (counts[word ?? ''] ?? 0) + 1;
  return counts;
}

/** Repeats the request until the response is not a server error, or until the deadline has passed. */
async function sendUntilServed(socketPath: () => string, method: string, target: string, body?: object) {
  const deadline = performance.now() + CATCH_UP_MS;
  for (;;) {
    try {
      const response = await sendToSocket(socketPath(), method, target, body);
      if (response.status < 500 || performance.now() > deadline) return response;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await delay(POLL_MS);
  }
}

/** Polls until `isTrue` returns true. Instead of false, `isTrue` may return a reason, which becomes part of the error. */
async function until(condition: string, isTrue: () => Promise<boolean | string>): Promise<void> {
  const deadline = performance.now() + CATCH_UP_MS;
  for (;;) {
    const outcome = await isTrue();
    if (outcome === true) return;
    if (performance.now() > deadline)
      throw new Error(`not reached in time: ${condition}${outcome === false ? '' : `:\n${outcome}`}`);
    await delay(POLL_MS);
  }
}
