// A long seeded simulation on two real chains with the real Seaport, followed through an endpoint that fails and returns wrong data, by a
// service that is killed at random points: in the end it serves the final state of the chains, computed without it.
// DEVNET_ACTIONS and DEVNET_SEED make it longer and another one.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../../devnet/random.ts';
import { mine } from '../../devnet/chain.ts';
import { startDevnet, startSimulation } from '../../devnet/devnet.ts';
import type { Listing } from '../../devnet/chain-state.ts';
import type { Simulation, Marketplace } from '../../devnet/simulation.ts';
import { toWireComponents } from '../../devnet/orders.ts';
import { readExpectedState } from '../support/chain/expected-state.ts';
import type { FaultyEndpoint } from '../support/chain/faulty-endpoint.ts';
import { startFaultyEndpoint } from '../support/chain/faulty-endpoint.ts';
import type { ServiceProcess } from '../support/service/service-process.ts';
import { sendToSocket, startServiceProcess } from '../support/service/service-process.ts';
import { directoryWithDatabase } from '../support/engines/empty-database.ts';

const SEED = Number(process.env['DEVNET_SEED'] ?? 1);
const ACTIONS = Number(process.env['DEVNET_ACTIONS'] ?? 160);
const NETWORKS: readonly string[] = ['ethereum', 'base'];
const BOOK_SIZE = 60;
const KILL_SHARE = 0.012;
const FAULT_SHARE = 0.15;
const CATCH_UP_MS = 120_000;
const POLL_MS = 200;
/** Reorganisations beyond what simulation does by itself. */
const REORG_SHARE = 0.04;

const cleanups: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const clean of cleanups.toReversed()) await clean();
});

test('what is served in the end is what the chains say in the end', async (t) => {
  const devnet = await startDevnet({ networks: NETWORKS, seed: SEED });
  cleanups.push(devnet.stop);
  const settings: Record<string, string> & { DATA_DIR: string } = {
    DATA_DIR: await directoryWithDatabase(),
    CHAIN_POLL_MS: '200',
    TRUST_PROXY: 'true',
  };
  const faulty: FaultyEndpoint[] = [];
  for (const { world } of devnet.networks) {
    const endpoint = await startFaultyEndpoint(world.chain.url, { seed: SEED, faultShare: FAULT_SHARE });
    faulty.push(endpoint);
    cleanups.push(endpoint.close);
    settings[`RPC_URL_${world.chain.id.toUpperCase()}`] = `${endpoint.url},${world.chain.url}`;
  }
  let service: ServiceProcess = await startServiceProcess(settings);
  cleanups.push(() => service.stop());
  const ask = (method: string, target: string, body?: object) =>
    askAgain(() => service.socketPath, method, target, body);

  for (const { world } of devnet.networks) {
    for (const { address, name } of world.collections) {
      const input = { chain: world.chain.id, address, name, fromBlock: 0 };
      const added = await ask('POST', '/operator/v1/collections.add', input);
      assert.equal(added.status, 200, JSON.stringify(added.body));
    }
  }
  await until('all collections follow live', async () => {
    const { body } = await ask('POST', '/operator/v1/collections.list', {});
    return body.result.every((row: { state: string }) => row.state === 'live');
  });

  const orderIds = new Map<string, string>();
  const marketplace: Marketplace = {
    postOrder: async ({ chain, listing }) => {
      const order = { parameters: toWireComponents(listing.components), signature: listing.signature };
      const { status, body } = await ask('POST', '/intake/v1/orders', { chain, order });
      if (status === 201) orderIds.set(listing.hash, body.data.orderId);
      // The response to the first attempt was lost with the process.
      return status === 201 || body.error.code === 'duplicate' ? null : `${body.error.code}: ${body.error.message}`;
    },
  };
  const simulations: Simulation[] = [];
  for (const network of devnet.networks) {
    const options = { seed: SEED, orders: BOOK_SIZE, marketplace, reorgShare: REORG_SHARE };
    const { simulation, book } = await startSimulation(network, options);
    await simulation.post(book);
    assert.deepEqual(simulation.rejected, [], 'every order of the first book is good');
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
  await simulations[0]?.reorganise(20);
  const skipped = simulations.flatMap((simulation) => simulation.rejected.map(({ reason }) => reason.split(':')[0]));
  t.diagnostic(`${ACTIONS} actions, ${kills} kills, rejected ${JSON.stringify(countBy(skipped))}`);
  t.diagnostic(`faults ${JSON.stringify(faulty.map(({ counts }) => counts))}`);

  for (const endpoint of faulty) endpoint.set({ faultShare: 0 });
  for (const [index, { world }] of devnet.networks.entries()) {
    await mine(world.chain);
    const simulation = simulations[index];
    assert.ok(simulation);
    await compare(world, simulation.accepted);
  }
  for (const audit of ['audit', 'audit.replay']) {
    const { status, body } = await ask('POST', `/operator/v1/${audit}`, audit === 'audit' ? { sample: 0 } : {});
    assert.equal(status, 200, JSON.stringify(body));
    const { drift, orders, tokens, unreadable, differences } = body.result;
    t.diagnostic(`${audit}: drift ${drift} over ${orders} orders and ${tokens} tokens`);
    assert.deepEqual({ drift, unreadable, differences }, { drift: 0, unreadable: 0, differences: [] });
    assert.ok(orders > 0 && tokens > 0);
  }

  async function compare(world: Simulation['world'], accepted: readonly Listing[]): Promise<void> {
    const chain = world.chain.id;
    const truth = await readExpectedState(world, accepted);
    await until(`${chain} has been read to its head`, async () => {
      const { body } = await ask('POST', '/operator/v1/status', {});
      return body.result.chains.find((one: { chain: string }) => one.chain === chain)?.block === truth.height;
    });
    await until(`${chain} serves what is true`, async () => {
      const wrong = await differences();
      return wrong.length === 0 ? true : wrong.slice(0, 12).join('\n');
    });

    async function differences(): Promise<string[]> {
      const now = await readExpectedState(world, accepted);
      const wrong: string[] = [];
      const expect = (what: string, actual: unknown, expected: unknown) => {
        if (actual !== expected) wrong.push(`${what}: ${String(actual)}, should be ${String(expected)}`);
      };
      for (const { hash } of accepted) {
        const id = orderIds.get(hash);
        const expected = now.orders.get(hash)?.status;
        if (id === undefined || expected === undefined) continue;
        const { body } = await ask('GET', `/intake/v1/orders/${id}`);
        const actual = body.order.dormant === null ? body.data.status : 'dormant';
        expect(`order ${id}`, actual, expected);
      }
      for (const [token, owner] of now.owners) {
        const [contract, tokenId] = token.split(':');
        const { data } = await readJson(`${service.url}/v1/tokens/${chain}/${contract}/${tokenId}`);
        expect(`owner of ${token}`, data?.owner.address ?? null, data?.listing ? data.listing.seller : owner);
        if (data?.listing) expect(`seller of ${token}`, data.listing.seller, owner);
      }
      for (const { address } of world.collections) {
        const id = `${chain}_${address.toLowerCase()}`;
        const { data: floor } = await readJson(`${service.url}/v1/collections/${id}/floor`);
        expect(`floor of ${id}`, floor.askFloor?.raw ?? null, now.floors.get(address)?.toString() ?? null);
        const sales = now.sales.filter(
          (sale) => sale.currency !== 'other' && sale.tokens.every(({ contract }) => contract === address),
        );
        const served = await walk(`${service.url}/v1/collections/${id}/sales`);
        expect(
          `sales of ${id}`,
          served
            .map(({ tx, tokenId, price, seller, buyer }) => [tx, tokenId, price.raw, seller, buyer].join(' '))
            .sort()
            .join('\n'),
          sales
            .map(({ tx, tokens, price, seller, buyer }) =>
              [tx, tokens.length === 1 ? tokens[0]?.tokenId : null, price, seller, buyer].join(' '),
            )
            .sort()
            .join('\n'),
        );
      }
      return wrong;
    }
  }
});

let clients = 0;

/** Every request comes from a new address, so that no rate limit applies. */
async function readJson(url: string): Promise<any> {
  clients += 1;
  const address = `10.${clients >> 16}.${(clients >> 8) & 255}.${clients & 255}`;
  const response = await fetch(url, { headers: { 'x-forwarded-for': address } });
  return response.json();
}

async function walk(url: string): Promise<any[]> {
  const rows: any[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: any = await readJson(`${url}?limit=100${cursor && `&cursor=${cursor}`}`);
    rows.push(...page.data);
    cursor = page.pagination.nextCursor;
  }
  return rows;
}

function countBy(words: readonly (string | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word ?? ''] = (counts[word ?? ''] ?? 0) + 1;
  return counts;
}

/** Repeats the request until a process responds. */
async function askAgain(socketPath: () => string, method: string, target: string, body?: object) {
  const deadline = performance.now() + CATCH_UP_MS;
  for (;;) {
    try {
      const answer = await sendToSocket(socketPath(), method, target, body);
      if (answer.status < 500 || performance.now() > deadline) return answer;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await delay(POLL_MS);
  }
}

async function until(what: string, isTrue: () => Promise<boolean | string>): Promise<void> {
  const deadline = performance.now() + CATCH_UP_MS;
  for (;;) {
    const answer = await isTrue();
    if (answer === true) return;
    if (performance.now() > deadline)
      throw new Error(`waited in vain until ${what}${answer === false ? '' : `:\n${answer}`}`);
    await delay(POLL_MS);
  }
}
