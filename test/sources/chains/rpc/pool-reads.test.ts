// Reads the swaps of pools on a local chain. Some endpoints refuse requests for the logs of all contracts, some give different responses, and
// some fail.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { callOf, readHeight } from '../../../../devnet/chain.ts';
import { createPool, installOtherProtocols } from '../../../../devnet/other-protocols.ts';
import { listFactories } from '../../../../src/sources/chains/pool-sales.ts';
import { listProtocolContracts } from '../../../../src/sources/chains/protocols/registry.ts';
import { SUDOSWAP_V2_TOPICS } from '../../../../src/sources/chains/protocols/sudoswap.ts';
import type { SwapRange } from '../../../../src/sources/chains/rpc/pool-reads.ts';
import { createChains } from '../../../../src/platform/core/chains.ts';
import { ZERO_ADDRESS } from '../../../../src/platform/core/evm.ts';
import type { CallResponse } from '../../../support/chain/altered-calls.ts';
import { LOGS_OF_ALL, startAlteredCalls } from '../../../support/chain/altered-calls.ts';
import type { LocalWorld } from '../../../support/chain/followed-collection.ts';
import { startLocalWorld } from '../../../support/chain/followed-collection.ts';
import { createTestReader } from '../../../support/chain/reader.ts';

const CHAIN = createChains().get('ethereum') ?? assert.fail();
const FACTORIES = listFactories(listProtocolContracts(CHAIN, new Map()));
const REFUSAL: CallResponse = { error: { code: -32_701, message: 'Please specify an address in your request' } };

suite('swaps of pools', () => {
  let world: LocalWorld;
  let range: SwapRange;
  let pool: string;
  before(async () => {
    world = await startLocalWorld();
    const [owner, trader] = world.people;
    const { poolFactory } = await installOtherProtocols(world.chain);
    const made = await createPool(world.chain, poolFactory, { from: owner, collection: world.nft.address, value: 0n });
    pool = made.address;
    await world.mint(owner, 1n);
    const [, sold] = await world.act(
      callOf(owner, world.nft, 'transferFrom', [owner, made.address, 1n]),
      callOf(trader, made, 'swapTokenForSpecificNFTs', [[1n], 0n, trader, false, trader], 7n),
    );
    const topics = new Set(Object.values(SUDOSWAP_V2_TOPICS));
    range = { from: 0, to: await readHeight(world.chain), topics, txs: new Set([sold?.transactionHash ?? '0x']) };
  });
  after(() => world.chain.stop());

  const readerOf = (t: TestContext, ...urls: string[]) => {
    const reader = createTestReader({ chain: CHAIN, urls, openMs: 20 });
    t.after(() => reader.close());
    return reader;
  };
  const endpointThat = (t: TestContext, change: (response: CallResponse) => CallResponse) =>
    startAlteredCalls(t, world.chain.url, new Map([[LOGS_OF_ALL, change]]));

  test('a swap is read with its pool, and the code of the pool contract gives the collection and the currency', async (t) => {
    const { pools } = readerOf(t, world.chain.url);
    const [swap, ...others] = await pools.swaps(range, FACTORIES);
    assert.deepEqual(others, []);
    assert.equal(swap?.log.address, pool);
    assert.partialDeepStrictEqual(swap.pool, { contract: world.nft.address, currency: ZERO_ADDRESS, tokenId: null });
    assert.deepEqual(await pools.swaps({ ...range, txs: new Set() }, FACTORIES), []);
  });

  test('a range is left out and counted if no endpoint serves the logs of all contracts', async (t) => {
    const refusing = await endpointThat(t, () => REFUSAL);
    const alone = readerOf(t, refusing);
    assert.deepEqual(await alone.pools.swaps(range, FACTORIES), []);
    assert.equal(alone.pools.unreadRanges(), 1);
    assert.equal(alone.endpoints()[0]?.failures, 0, 'the refusal counts as a failure of the endpoint');
    const beside = readerOf(t, refusing, world.chain.url);
    assert.equal((await beside.pools.swaps(range, FACTORIES)).length, 1);
    assert.equal(beside.pools.unreadRanges(), 0);
  });

  test('a range of too many logs is read in halves', async (t) => {
    let requests = 0;
    const limited = await endpointThat(t, (response) => {
      requests += 1;
      return requests === 1
        ? { error: { code: -32_005, message: 'query returned more than 10000 results' } }
        : response;
    });
    assert.equal((await readerOf(t, limited).pools.swaps(range, FACTORIES)).length, 1);
    assert.equal(requests, 3);
  });

  test('swaps about which two endpoints disagree are not used', async (t) => {
    const omitting = await endpointThat(t, () => ({ result: [] }));
    const reader = readerOf(t, omitting, world.chain.url);
    await assert.rejects(reader.pools.swaps(range, FACTORIES), { kind: 'contradicted' });
  });

  test('a range that fails again and again is left out, so that the read of the chain can continue', async (t) => {
    const reader = createTestReader({ chain: CHAIN, urls: ['http://127.0.0.1:9'], openMs: 20, patienceMs: 20 });
    t.after(() => reader.close());
    const { pools } = reader;
    for (const _ of [1, 2]) await assert.rejects(pools.swaps(range, FACTORIES), { name: 'ChainUnavailable' });
    assert.deepEqual(await pools.swaps(range, FACTORIES), []);
    assert.equal(pools.unreadRanges(), 1);
  });

  test('a range that fails again and again is left out, even if another range is read in between', async (t) => {
    let isFailing = true;
    const url = await endpointThat(t, (response) => (isFailing ? { result: 'not a list' } : response));
    const reader = createTestReader({ chain: CHAIN, urls: [url], openMs: 20, patienceMs: 20 });
    t.after(() => reader.close());
    const { pools } = reader;
    const other = { ...range, from: 1 };
    for (const _ of [1, 2]) {
      isFailing = true;
      await assert.rejects(pools.swaps(range, FACTORIES), { name: 'ChainUnavailable' });
      isFailing = false;
      assert.equal((await pools.swaps(other, FACTORIES)).length, 1);
    }
    isFailing = true;
    assert.deepEqual(await pools.swaps(range, FACTORIES), []);
    assert.equal(pools.unreadRanges(), 1);
  });
});
