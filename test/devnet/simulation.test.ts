// The simulation on the local chains. Its actions succeed, and its record of the state agrees with the chain.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { startSimulation } from '../../devnet/devnet.ts';
import type { ChainState } from '../../devnet/chain-state.ts';
import type { Simulation } from '../../devnet/simulation.ts';
import { isAcceptable, isFillable, isOpen, unitsLeft } from '../../devnet/chain-state.ts';
import { readChain, readHeight, toSeconds } from '../../devnet/chain.ts';
import { readHashes, startTestDevnet } from '../support/chain/devnet.ts';
import type { ExpectedState } from '../support/chain/expected-state.ts';
import { readExpectedState } from '../support/chain/expected-state.ts';

const ACTIONS = 240;
const ORDERS = 60;
const OFTEN = { reorgShare: 0.05 };

/** Starts a simulation on a new chain for each network. The chains are stopped when the test ends. */
async function begin(t: TestContext, seed: number, networks: readonly string[] = ['ethereum']): Promise<Simulation[]> {
  const devnet = await startTestDevnet({ networks });
  t.after(devnet.stop);
  const marketplace = { postOrder: () => Promise.resolve(null), postBid: () => Promise.resolve(null) };
  const simulations = devnet.networks.map(async (network) => {
    const { simulation, book } = await startSimulation(network, {
      seed,
      orders: ORDERS,
      ...OFTEN,
      marketplace,
      skip: devnet.skip,
    });
    await simulation.post(book);
    return simulation;
  });
  return Promise.all(simulations);
}

/** Compares the simulation's record of the state with the state of the chain. */
function compare(simulation: Simulation, truth: ExpectedState): void {
  const state = simulation.state();
  const known = new Map([...truth.owners].filter(([, owner]) => owner !== null));
  assert.deepEqual(state.owners, known);
  const held = new Map([...state.units].filter(([, units]) => units > 0n));
  assert.deepEqual(held, truth.units);
  const now = toSeconds(simulation.world.chain.clock());
  for (const listing of simulation.accepted) {
    const order = truth.orders.get(listing.hash) ?? assert.fail();
    const units = listing.tokens[0]?.units ?? 0n;
    assert.equal(order.filled, units - unitsLeft(state, listing), listing.hash);
    assert.equal(order.status === 'filled', unitsLeft(state, listing) === 0n, listing.hash);
    // An ERC-1155 order can be active although the offerer holds too few units for the whole order. The simulation does not buy such
    // an order.
    const fillable = isFillable(state, listing, now);
    if (fillable || units === 1n) assert.equal(order.status === 'active', fillable, listing.hash);
  }
}

/** Compares the simulation's record of its bids, and of what people can pay, with the state of the chain. */
async function compareBids({ world, acceptedBids }: Simulation, state: ChainState): Promise<void> {
  const { chain, people, protocol } = world;
  const { wrapped, seaport, conduit } = protocol;
  for (const { address } of people) {
    assert.equal(state.balances.get(address), await readChain(chain, wrapped, 'balanceOf', [address]));
    for (const spender of [seaport.address, conduit.address]) {
      const allowance = await readChain(chain, wrapped, 'allowance', [address, spender]);
      assert.equal(state.allowances.get(`${address}:${spender}`), allowance);
    }
  }
  for (const bid of acceptedBids) {
    const status = await readChain(chain, seaport, 'getOrderStatus', [bid.hash]);
    const [, isCancelled, filled, size] = status as readonly [boolean, boolean, bigint, bigint];
    const { units } = bid.wanted;
    assert.equal(units - unitsLeft(state, bid), size === 0n ? 0n : (units * filled) / size, bid.hash);
    assert.equal(state.cancelled.has(bid.hash), isCancelled, bid.hash);
  }
}

test('after many actions, the simulation’s record agrees with the state of the chain', async (t) => {
  const done = new Set<string>();
  for (const simulation of await begin(t, 6, ['ethereum', 'base'])) {
    for (let action = 0; action < ACTIONS; action += 1) await simulation.step();
    const truth = await readExpectedState(simulation.world, simulation.accepted);
    compare(simulation, truth);
    await compareBids(simulation, simulation.state());
    assert.equal(truth.height, await readHeight(simulation.world.chain));
    const kinds = new Set(
      simulation.steps.flatMap(({ what }) => what.split(', ')).map((what) => what.replaceAll(/\d+/g, 'N')),
    );
    t.diagnostic(
      `${simulation.world.chain.id}: ${truth.height} blocks, ${truth.sales.length} sales, ${kinds.size} kinds`,
    );
    assert.ok(kinds.size >= 18, [...kinds].join(', '));
    const statuses = new Set([...truth.orders.values()].map(({ status }) => status));
    assert.deepEqual([...statuses].sort(), ['active', 'cancelled', 'dormant', 'expired', 'filled']);
    assert.ok([...truth.floors.values()].some((floor) => floor !== null));
    assert.ok(simulation.steps.some(({ orphaned }) => orphaned));
    const { acceptedBids } = simulation;
    assert.deepEqual([...new Set(acceptedBids.map(({ wanted }) => wanted.kind))].sort(), [
      'collection',
      'item',
      'trait',
    ]);
    const now = toSeconds(simulation.world.chain.clock());
    const open = acceptedBids.filter((bid) => isOpen(simulation.state(), bid, now));
    assert.ok(open.some((bid) => isAcceptable(simulation.state(), bid, now)));
    assert.ok(open.some((bid) => !isAcceptable(simulation.state(), bid, now)));
    for (const what of kinds) done.add(what);
  }
  for (const what of ['a balance falls', 'a balance rises', 'an allowance is lowered', 'an allowance is raised'])
    assert.ok(done.has(what), what);
  assert.ok([...done].some((what) => what.startsWith('a bid of this marketplace accepted')));
});

test('the chain has as many sales as the simulation has made, except the sales in orphaned blocks', async (t) => {
  const [simulation] = await begin(t, 4);
  assert.ok(simulation);
  for (let action = 0; action < ACTIONS; action += 1) await simulation.step();
  const { sales } = await readExpectedState(simulation.world, simulation.accepted);
  const done = simulation.steps.filter(({ orphaned }) => !orphaned).flatMap(({ what }) => what.split(', '));
  const sold = done.reduce((sum, what) => sum + salesOf(what), 0);
  assert.equal(sales.length, sold);
  assert.ok(sales.some(({ bundle }) => bundle));
  assert.deepEqual(new Set(sales.map(({ currency }) => currency)), new Set(['native', 'wrapped', 'other']));
  assert.equal(new Set(sales.map(({ tx, logIndex }) => `${tx}:${logIndex}`)).size, sales.length);
  assert.ok(sales.every(({ seller, buyer, price }) => seller !== buyer && price > 0n));
});

function salesOf(what: string): number {
  const swept = /^fulfillAvailableOrders of (\d+)$/.exec(what)?.[1];
  if (swept !== undefined) return Number(swept);
  return /^(fulfill|matchOrders|a bid|a purchase|a sale)/.test(what) ? 1 : 0;
}

test('after a reorganisation of twenty blocks the effects of the orphaned blocks are removed', async (t) => {
  const [simulation] = await begin(t, 5, ['base']);
  assert.ok(simulation);
  const { chain } = simulation.world;
  const base = await readHeight(chain);
  while ((await readHeight(chain)) < base + 30) await simulation.step();
  const height = await readHeight(chain);
  const hashes = await readHashes(chain);
  const before = await readExpectedState(simulation.world, simulation.accepted);
  await simulation.reorganise(20);
  const replaced = await readHashes(chain);
  assert.equal(await readHeight(chain), height + 1);
  assert.deepEqual(replaced.slice(0, height - 19), hashes.slice(0, height - 19));
  assert.ok(hashes.slice(height - 19).every((hash) => !replaced.includes(hash)));
  const after = await readExpectedState(simulation.world, simulation.accepted);
  compare(simulation, after);
  const orphans = before.sales.filter(({ blockNumber }) => blockNumber > height - 20);
  const kept = new Set(after.sales.map(({ tx, logIndex, blockNumber }) => `${tx}:${logIndex}:${blockNumber}`));
  assert.ok(orphans.length > 0);
  assert.ok(before.sales.length > orphans.length);
  for (const sale of before.sales) {
    if (sale.blockNumber > height - 20) continue;
    assert.ok(kept.has(`${sale.tx}:${sale.logIndex}:${sale.blockNumber}`));
  }
  for (let action = 0; action < 50; action += 1) await simulation.step();
  compare(simulation, await readExpectedState(simulation.world, simulation.accepted));
});

test('two simulations with the same seed and time have the same actions and transactions', async (t) => {
  const courses: string[][] = [];
  for (let run = 0; run < 2; run += 1) {
    const fresh = await startTestDevnet({ clock: () => 1_800_000_000_000 });
    t.after(fresh.stop);
    const [network] = fresh.networks;
    assert.ok(network);
    const marketplace = { postOrder: () => Promise.resolve(null), postBid: () => Promise.resolve(null) };
    const { simulation, book } = await startSimulation(network, { seed: 9, orders: 30, marketplace });
    await simulation.post(book);
    for (let action = 0; action < 40; action += 1) await simulation.step();
    courses.push(simulation.steps.map(({ what, txs }) => `${what} ${txs.join(' ')}`));
  }
  assert.deepEqual(courses[0], courses[1]);
});
