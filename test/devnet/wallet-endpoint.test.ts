// The transactions that wallets send to a local chain are mined at once, and the simulation continues with the changed chain.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { encodeFunctionData, zeroHash } from 'viem';
import type { Receipt } from '../../devnet/chain.ts';
import { readHeight } from '../../devnet/chain.ts';
import { startSimulation } from '../../devnet/devnet.ts';
import { isOpen } from '../../devnet/chain-state.ts';
import { toOrder, totalOf } from '../../devnet/orders.ts';
import { createRpc } from '../../devnet/rpc.ts';
import { startWalletEndpoint } from '../../devnet/wallet-endpoint.ts';
import { startTestDevnet } from '../support/chain/devnet.ts';
import { readExpectedState } from '../support/chain/expected-state.ts';

const SIZE = { people: 4, visitors: 2, collections: 1, tokens: 30, editions: 6 };
const STEPS = 30;

test('the state of a simulation includes the transactions of wallets, and the simulation continues after a failed transaction', async (t) => {
  const devnet = await startTestDevnet({ size: SIZE });
  t.after(devnet.stop);
  const [network = assert.fail()] = devnet.networks;
  const marketplace = { postOrder: () => Promise.resolve(null), postBid: () => Promise.resolve(null) };
  const { simulation, book } = await startSimulation(network, { seed: 5, orders: 25, marketplace, reorgShare: 0.1 });
  await simulation.post(book);
  await using endpoint = await startWalletEndpoint(simulation);
  const { protocol, collections, visitors, chain } = network.world;
  const [visitor = assert.fail(), other = assert.fail()] = visitors;
  const [collection = assert.fail()] = collections;
  const wallet = createRpc(endpoint.url);
  const receiptOf = (hash: Hex) => wallet.call<Receipt>('eth_getTransactionReceipt', hash);
  const send = async (transaction: { to: Hex; data: Hex; value?: bigint }): Promise<Receipt> => {
    const value = `0x${(transaction.value ?? 0n).toString(16)}`;
    const gas = '0x100000';
    return receiptOf(await wallet.call<Hex>('eth_sendTransaction', { from: visitor, gas, ...transaction, value }));
  };
  const callToken = (functionName: string, args: unknown[]) =>
    send({ to: collection.address, data: encodeFunctionData({ abi: collection.abi, functionName, args }) });

  const isNative = (listing: (typeof book)[number]) => listing.components.consideration[0]?.itemType === 0;
  const now = Math.floor(chain.clock() / 1_000);
  const bought = book.find((one) => isNative(one) && isOpen(simulation.state(), one, now)) ?? assert.fail();
  const { abi } = protocol.seaport;
  const data = encodeFunctionData({ abi, functionName: 'fulfillOrder', args: [toOrder(bought), zeroHash] });
  const purchase = { to: protocol.seaport.address, data, value: totalOf(bought.components) };
  // Steps and transactions of the wallet are requested at the same time.
  const [, receipt] = await Promise.all([simulation.step(), send(purchase), simulation.step()]);
  assert.equal(receipt.status, '0x1');
  assert.equal((await send(purchase)).status, '0x0', 'a filled order was filled again');
  const [own] = [...simulation.state().owners].filter(([, owner]) => owner === visitor).map(([key]) => key);
  const tokenId = BigInt(own?.split(':')[1] ?? assert.fail());
  assert.equal((await callToken('setApprovalForAll', [protocol.seaport.address, true])).status, '0x1');
  assert.equal((await callToken('transferFrom', [visitor, other, tokenId])).status, '0x1');
  for (let step = 0; step < STEPS; step += 1) await simulation.step();

  const truth = await readExpectedState(network.world, simulation.accepted);
  const state = simulation.state();
  assert.deepEqual(state.owners, new Map([...truth.owners].filter(([, owner]) => owner !== null)));
  assert.deepEqual(new Map([...state.units].filter(([, units]) => units > 0n)), truth.units);
});

test('a wallet can change the chain only by transactions, and a foreign website has no access to the chain', async (t) => {
  const devnet = await startTestDevnet({ size: { ...SIZE, editions: 0, tokens: 4 } });
  t.after(devnet.stop);
  const [network = assert.fail()] = devnet.networks;
  const marketplace = { postOrder: () => Promise.resolve(null), postBid: () => Promise.resolve(null) };
  const { simulation } = await startSimulation(network, { seed: 5, orders: 0, marketplace });
  await using endpoint = await startWalletEndpoint(simulation);
  const height = await readHeight(network.world.chain);
  for (const method of [
    'evm_mine',
    'eth_sendUnsignedTransaction',
    'eth_sendTransactionSync',
    'eth_sendRawTransactionSync',
  ])
    await assert.rejects(createRpc(endpoint.url).call(method, {}), /not available/, method);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber' });
  const headers = { 'content-type': 'text/plain' };
  assert.equal((await fetch(endpoint.url, { method: 'POST', headers, body })).status, 415);
  assert.equal(await createRpc(endpoint.url).call('eth_blockNumber'), `0x${height.toString(16)}`);

  // A malicious website can make its host name resolve to this machine. The browser then sends this host name in its
  // request, so the endpoint must reject other host names than those of this machine.
  const statusAt = async (host: string) => {
    const post = { method: 'POST', headers: { 'content-type': 'application/json', host } };
    const [response] = await once(request(endpoint.url, post).end(body), 'response');
    return response.resume().statusCode;
  };
  const { port } = new URL(endpoint.url);
  assert.deepEqual(await Promise.all([`localhost:${port}`, `127.0.0.1:${port}`].map(statusAt)), [200, 200]);
  const others = [`example.com:${port}`, `127.0.0.1.example.com:${port}`, `localhost@example.com:${port}`];
  assert.deepEqual(await Promise.all(others.map(statusAt)), [403, 403, 403]);

  // The chain itself allows no website either: its response to a preflight request allows no origin.
  const preflight = await fetch(network.world.chain.url, {
    method: 'OPTIONS',
    headers: {
      origin: 'http://example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  });
  assert.equal(preflight.headers.get('access-control-allow-origin'), null);
});
