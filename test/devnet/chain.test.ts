// Tests that a local chain has the real Seaport at the address of the real chain, that a rollback removes the effects of the removed
// blocks, and that the chain ends with the process that started it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { zeroAddress } from 'viem';
import { startAnvil } from '../../devnet/anvil.ts';
import { callOf, mine, readChain, readHeight, rollBack, setAutomine, transact } from '../../devnet/chain.ts';
import type { LocalNetwork } from '../../devnet/devnet.ts';
import { hashOrder, signBulk, signOrder, buildAsk, toOrder } from '../../devnet/orders.ts';
import { CONDUIT_KEY } from '../../devnet/protocol.ts';
import { createRpc } from '../../devnet/rpc.ts';
import { OperatorError } from '../../src/platform/core/errors.ts';
import type { TestDevnet } from '../support/chain/devnet.ts';
import { readHashes, startTestDevnet } from '../support/chain/devnet.ts';

const DEADLINE_MS = 10_000;
const IDLE_BLOCKS = 200;

let devnet: TestDevnet;
let network: LocalNetwork;
before(async () => {
  // The clock is fixed, so that two blocks differ only in what a test changes.
  devnet = await startTestDevnet({ networks: ['base'], clock: () => 1_800_000_000_000 });
  network = devnet.networks[0] ?? assert.fail();
});
after(() => devnet.stop());

test('Seaport 1.6 has the same address and domain separator as on the real chain', async () => {
  const { chain, protocol } = network.world;
  assert.equal(await chain.rpc.call('eth_chainId'), '0x2105');
  const [version, separator, controller] = (await readChain(chain, protocol.seaport, 'information')) as string[];
  assert.equal(protocol.seaport.address, '0x0000000000000068f116a894984e2db1123eb395');
  // The domain separator that the real contract of Seaport 1.6 on Base returns.
  assert.equal(separator, '0x1965c52d779fea3b2c530bc1bbedc135c9671ade2fa4748307d92dbcdb47b2e0');
  assert.deepEqual([version, controller], ['1.6', '0x00000000F9490004C11Cef243f5400493c00Ad63']);
  const [conduit] = (await readChain(chain, protocol.conduitController, 'getConduit', [CONDUIT_KEY])) as string[];
  assert.equal(conduit?.toLowerCase(), protocol.conduit.address);
  const args = [protocol.conduit.address, protocol.seaport.address];
  assert.equal(await readChain(chain, protocol.conduitController, 'getChannelStatus', args), true);
});

test('Seaport computes the same order hashes as the local code', async () => {
  const { world } = network;
  const { chain, protocol, collections, people } = world;
  const [person] = people;
  const [collection] = collections;
  assert.ok(person && collection);
  const orders = [1n, 2n, 3n].map((salt) =>
    buildAsk({
      offerer: person.address,
      price: 100n,
      currency: null,
      shares: [{ to: zeroAddress, bps: 250 }],
      conduitKey: CONDUIT_KEY,
      startTime: 1,
      endTime: 4_000_000_000,
      salt,
      counter: 0n,
      tokens: [{ contract: collection.address, standard: 'erc721', tokenId: salt, units: 1n }],
    }),
  );
  const [one, two] = orders;
  assert.ok(one && two);
  const signed = [
    await signOrder(person.account, chain.chainId, one),
    await signOrder(person.account, chain.chainId, two, { compact: true }),
    ...(await signBulk(person.account, chain.chainId, orders)),
    ...(await signBulk(person.account, chain.chainId, orders, { compact: true })),
  ];
  assert.deepEqual(
    signed.map(({ signature }) => (signature.length - 2) / 2),
    [65, 64, 132, 132, 132, 131, 131, 131],
  );
  for (const order of signed) {
    assert.equal(await readChain(chain, protocol.seaport, 'getOrderHash', [order.components]), order.hash);
    assert.equal(hashOrder(order.components), order.hash);
    assert.equal(await readChain(chain, protocol.seaport, 'validate', [[toOrder(order)]]), true);
  }
});

test('a rollback removes the effects of the removed blocks', async () => {
  const { chain, protocol, people } = network.world;
  const [person] = people;
  assert.ok(person);
  // Mines until the base fee no longer falls. Otherwise the new block could differ from the removed block by its fee, and the last assertion
  // would not prove that a rollback makes the two blocks differ.
  await chain.rpc.call('anvil_mine', `0x${IDLE_BLOCKS.toString(16)}`);
  const before = await readHeight(chain);
  const raise = callOf(person.address, protocol.seaport, 'incrementCounter');
  const counter = () => readChain(chain, protocol.seaport, 'getCounter', [person.address]);
  const [receipt] = await transact(chain, [raise]);
  await mine(chain);
  const hashes = await readHashes(chain);
  await rollBack(chain, 2);
  assert.equal(await readHeight(chain), before);
  assert.equal(await counter(), 0n);
  assert.equal(await chain.rpc.call('eth_getTransactionReceipt', receipt?.transactionHash), null);
  await transact(chain, [raise]);
  await mine(chain);
  const after = await readHashes(chain);
  assert.equal(after.length, hashes.length);
  assert.deepEqual(after.slice(0, before + 1), hashes.slice(0, before + 1));
  assert.notEqual(after[before + 1], hashes[before + 1]);
  await rollBack(chain, 2);
});

test('a transaction that fails is reported with its function and contract', async () => {
  const { chain, people, collections } = network.world;
  const [person] = people;
  const [collection] = collections;
  assert.ok(person && collection);
  const call = callOf(person.address, collection, 'mint', [person.address, 1n]);
  await assert.rejects(transact(chain, [call]), /a transaction failed: 0x40c10f19 to 0x/);
});

test('with automatic mining, a block is mined for each transaction', async () => {
  const { chain, people } = network.world;
  const [person] = people;
  const before = await readHeight(chain);
  await setAutomine(chain, true);
  const hash = await chain.rpc.call('eth_sendTransaction', { from: person?.address, to: person?.address });
  await until(async () => (await chain.rpc.call('eth_getTransactionReceipt', hash)) !== null);
  await setAutomine(chain, false);
  assert.equal(await readHeight(chain), before + 1);
});

test('when anvil is not installed, the error says so', async () => {
  const start = startAnvil({ chainId: 1, accounts: 1, timestamp: 1, program: 'no-such-anvil' });
  await assert.rejects(
    start,
    (error) => error instanceof OperatorError && /anvil is not installed/.test(error.message),
  );
});

test('a chain ends when the process that started it is killed', async () => {
  const source = `
    import { startAnvil } from ${JSON.stringify(new URL('../../devnet/anvil.ts', import.meta.url).href)};
    const { url } = await startAnvil({ chainId: 1, accounts: 1, timestamp: 1 });
    process.stdout.write(url);
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  const rpc = createRpc(url.toString());
  assert.equal(await rpc.call('eth_chainId'), '0x1');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await until(() =>
    rpc.call('eth_chainId').then(
      () => false,
      () => true,
    ),
  );
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await isTrue())) {
    assert.ok(performance.now() < deadline, 'the condition was not reached in time');
    await delay(10);
  }
}
