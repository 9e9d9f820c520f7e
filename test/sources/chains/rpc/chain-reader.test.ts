// Reads a real local chain with the real Seaport, through an endpoint without faults.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Abi, Hex as ViemHex } from 'viem';
import { hashTypedData, parseEventLogs } from 'viem';
import type { ChainEvent } from '../../../../src/market/chain-log/chain-event.ts';
import type { Address, AssetId } from '../../../../src/platform/core/address.ts';
import type { ChainReader } from '../../../../src/sources/chains/rpc/chain-reader.ts';
import type { EventFilter } from '../../../../src/sources/chains/rpc/log-query.ts';
import { ChainUnavailable } from '../../../../src/sources/chains/rpc/rpc-failure.ts';
import { SEAPORT, SEAPORT_TOPICS } from '../../../../src/sources/chains/protocols/seaport.ts';
import { TOKEN_TOPICS } from '../../../../src/sources/chains/protocols/token-standards.ts';
import { readBlock, rollBack, mine, callOf, transact } from '../../../../devnet/chain.ts';
import { startSeaportHistory } from '../../../support/chain/seaport-history.ts';
import type { SeaportHistory } from '../../../support/chain/seaport-history.ts';
import { createTestReader, readBlockEvents } from '../../../support/chain/reader.ts';
import { startFaultyEndpoint } from '../../../support/chain/faulty-endpoint.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';

const asset = (id: bigint) => id.toString() as AssetId;

suite('a chain is read through an endpoint', () => {
  let scene: SeaportHistory;
  let reader: ChainReader;
  let filter: EventFilter;
  before(async () => {
    scene = await startSeaportHistory();
    filter = scene.filter;
    reader = createTestReader({ chain: scene.chain, urls: [scene.local.url] });
  });
  after(async () => {
    reader.close();
    await scene.close();
  });

  test('the events of a range equal the events that viem decodes from the same logs', async () => {
    const { events, to } = await reader.events.ofRange(0, scene.to, filter);
    assert.equal(to, scene.to);
    assert.deepEqual(events, await decodedByViem(scene, filter));
    const kinds = new Set(events.map(({ kind }) => kind));
    assert.equal(kinds.size, 8, 'the history lacks a kind of event');
  });

  test('events that are read block by block equal the events of the range', async () => {
    const { events } = await reader.events.ofRange(scene.from, scene.to, filter);
    const each: ChainEvent[] = [];
    for (let number = scene.from; number <= scene.to; number += 1) {
      const header = await reader.blocks.header(number);
      assert.ok(header);
      const ofBlock = await readBlockEvents(reader, header, filter);
      assert.ok(ofBlock.every(({ blockTime }) => blockTime === header.time));
      each.push(...ofBlock);
    }
    assert.deepEqual(each, events);
    assert.equal(
      new Set(each.map(({ blockTime }) => blockTime)).size > 5,
      true,
      'the blocks have fewer than six different times',
    );
  });

  test('the event of a fill has seller, buyer, token and payments', async () => {
    const { events } = await reader.events.ofRange(scene.from, scene.to, filter);
    const fill = events.find((event) => event.kind === 'order-fulfilled');
    const { seller, buyer, collection } = scene.addresses;
    assert.equal(fill?.kind === 'order-fulfilled' && fill.orderHash, scene.sold.hash);
    assert.ok(fill?.kind === 'order-fulfilled');
    assert.deepEqual([fill.offerer, fill.recipient], [seller, buyer]);
    assert.deepEqual(fill.offer, [{ itemType: 2, token: collection, identifier: 1n, amount: 1n }]);
    assert.equal(
      fill.consideration.reduce((sum, { amount }) => sum + amount, 0n),
      10n ** 18n,
    );
    assert.equal(fill.consideration[0]?.recipient, seller);
  });

  test('ERC-20 transfers and approvals are ignored, although they have the topics of ERC-721 events', async () => {
    const wrapped = { protocols: new Map(), contracts: [scene.addresses.wrapped] };
    const { events } = await reader.events.ofRange(scene.from, scene.to, wrapped);
    assert.deepEqual(events, []);
    assert.equal(reader.unread.byContract().size, 0);
  });

  test('an empty filter selects no events', async () => {
    assert.deepEqual((await reader.events.ofRange(0, scene.to, { protocols: new Map(), contracts: [] })).events, []);
    const { events } = await reader.events.ofRange(0, scene.to, {
      protocols: new Map([[scene.addresses.seaport, SEAPORT]]),
      contracts: [],
    });
    assert.ok(events.length > 0 && events.every((event) => 'protocol' in event));
  });

  test('the events of more contracts than one request may name are read with several requests', async () => {
    const strangers = Array.from(
      { length: 450 },
      (_, index) => `0x${(index + 1).toString(16).padStart(40, '0')}` as Address,
    );
    const [first, ...rest] = filter.contracts;
    const many = { ...filter, contracts: [...(first ? [first] : []), ...strangers, ...rest] };
    const { events } = await reader.events.ofRange(0, scene.to, many);
    assert.deepEqual(events, (await reader.events.ofRange(0, scene.to, filter)).events);
    const header = await reader.blocks.header(scene.to);
    assert.ok(header);
    assert.equal((await readBlockEvents(reader, header, many)).length, 1);
  });

  test('the reader returns the head, a header and the finalized block of the chain', async () => {
    const head = await reader.blocks.head();
    const block = await readBlock(scene.local, 'latest');
    assert.deepEqual(head, {
      number: Number(block.number),
      hash: block.hash,
      parentHash: block.parentHash,
      time: Number(block.timestamp) * 1000,
    });
    assert.deepEqual(await reader.blocks.header(head.number), head);
    assert.equal(await reader.blocks.header(head.number + 1), null);
    const finalized = await reader.blocks.finalizedNumber();
    assert.ok(finalized !== null && finalized < head.number);
  });

  test('the sender, the call data and the value of transactions are read', async () => {
    const { events } = await reader.events.ofRange(scene.from, scene.to, filter);
    const fill = events.find(({ kind }) => kind === 'order-fulfilled');
    assert.ok(fill);
    const unknown: Hex = `0x${'12'.repeat(32)}`;
    const transactions = await reader.transactions([fill.tx, fill.tx, unknown]);
    type Sent = { input: string; from: string; value: string };
    const { from, input, value } = await scene.local.rpc.call<Sent>('eth_getTransactionByHash', fill.tx);
    const expected = { sender: from.toLowerCase(), callData: input, value: BigInt(value).toString() };
    assert.deepEqual([...transactions], [[fill.tx, expected]]);
  });

  test('the state of contracts is read at the given block', async () => {
    const { collection, editions, seaport, seller, buyer } = scene.addresses;
    const { events } = await reader.events.ofRange(scene.from, scene.to, filter);
    const soldAt = events.find(({ kind }) => kind === 'order-fulfilled')?.blockNumber ?? 0;
    assert.equal(await reader.contracts.ownerOf(collection, asset(1n), soldAt - 1), seller);
    assert.equal(await reader.contracts.ownerOf(collection, asset(1n), soldAt), buyer);
    assert.equal(await reader.contracts.ownerOf(collection, asset(1n), 'latest'), null, 'a burned token has an owner');
    assert.equal(await reader.contracts.balanceOf(editions, seller, asset(7n), 'latest'), 10n);
    assert.equal(await reader.contracts.isApprovedForAll(collection, seller, seaport, 'latest'), true);
    assert.equal(await reader.contracts.isApprovedForAll(collection, buyer, seaport, 'latest'), false);
    assert.equal(await reader.contracts.getApproved(collection, asset(5n), 'latest'), null);
    assert.equal(await reader.contracts.getCounter(seaport, seller, soldAt), 0n);
    assert.ok(
      ((await reader.contracts.getCounter(seaport, seller, 'latest')) ?? 0n) > 2n ** 64n,
      'the counter was not raised by a large number',
    );
    assert.deepEqual(await reader.contracts.getOrderStatus(seaport, scene.cancelled.hash, 'latest'), {
      validated: false,
      cancelled: true,
      totalFilled: 0n,
      totalSize: 0n,
    });
    assert.equal(
      await reader.contracts.ownerOf(seller, asset(1n), 'latest'),
      null,
      'a token whose contract has no code has an owner',
    );
    assert.equal(await reader.contracts.isValidSignature(seller, `0x${'11'.repeat(32)}`, '0x1234', 'latest'), false);
    assert.equal(
      await reader.contracts.isValidSignature(collection, `0x${'11'.repeat(32)}`, '0x1234', 'latest'),
      false,
    );
    assert.equal(await reader.contracts.code(seller, 'latest'), '0x');
    assert.ok((await reader.contracts.code(collection, 'latest')).length > 100);
  });

  test('the standard, name and creation block of a contract are read', async () => {
    const { collection, editions, seaport, seller } = scene.addresses;
    assert.equal(await reader.contracts.tokenStandard(collection), 'erc721');
    assert.equal(await reader.contracts.tokenStandard(editions), 'erc1155');
    assert.equal(await reader.contracts.tokenStandard(seaport), null);
    assert.equal(await reader.contracts.tokenStandard(seller), null);
    assert.equal(await reader.contracts.name(collection), 'Moons');
    assert.equal(await reader.contracts.name(seller), null);
    const created = await reader.contracts.createdAt(collection);
    assert.ok(created !== null && created > 0);
    assert.equal(await reader.contracts.code(collection, created - 1), '0x');
    assert.notEqual(await reader.contracts.code(collection, created), '0x');
    assert.equal(await reader.contracts.createdAt(seller), null);
  });

  test('ERC-165 decides the standard, unless a contract reports both standards or the invalid interface', async () => {
    const contract = '0x0000000000000000000000000000000000a11165' as Address;
    const [ERC721, ERC1155, INVALID] = ['80ac58cd', 'd9b67a26', 'ffffffff'];
    /** Code that compares the interface id of the call: CALLDATALOAD, SHR, PUSH4, EQ. */
    const equals = (id = '') => `60043560e01c63${id}14`;
    const or = (...results: string[]) => `${results.join('')}17`;
    const standardOf = async (result: string) => {
      await scene.local.rpc.call('anvil_setCode', contract, `0x${result}60005260206000f3`);
      return reader.contracts.tokenStandard(contract);
    };
    assert.equal(await standardOf(equals(ERC721)), 'erc721');
    assert.equal(await standardOf(equals(ERC1155)), 'erc1155');
    assert.equal(await standardOf(or(equals(ERC721), equals(ERC1155))), null);
    assert.equal(await standardOf(or(equals(ERC721), equals(INVALID))), null);
    assert.equal(await standardOf('6000'), null, 'a contract without interfaces has a standard');
  });

  test('a contract wallet verifies a signature by ERC-1271', async () => {
    const { seller } = scene.addresses;
    const digest = hashTypedData({ types: { A: [{ name: 'a', type: 'uint8' }] }, primaryType: 'A', message: { a: 1 } });
    // Code that returns the four bytes of ERC-1271 for every call: PUSH4 magic, PUSH1 224, SHL, MSTORE, RETURN.
    const wallet = '0x00000000000000000000000000000000000a11e7' as Address;
    await scene.local.rpc.call('anvil_setCode', wallet, '0x631626ba7e60e01b60005260206000f3');
    assert.equal(await reader.contracts.isValidSignature(wallet, digest, '0x12', 'latest'), true);
    assert.equal(await reader.contracts.isValidSignature(seller, digest, '0x12', 'latest'), false);
  });

  test('the creation block and the finalized block are null if the endpoint cannot serve them', async () => {
    const endpoint = await startFaultyEndpoint(scene.local.url, { withoutHistory: true, withoutFinality: true });
    const poor = createTestReader({ chain: scene.chain, urls: [endpoint.url] });
    try {
      assert.equal(await poor.contracts.createdAt(scene.addresses.collection), null);
      assert.equal(await poor.blocks.finalizedNumber(), null);
      assert.equal(poor.endpoints()[0]?.failures, 0, 'a missing old state was counted as a failure');
    } finally {
      poor.close();
      await endpoint.close();
    }
  });

  test('an undecodable log of a token contract is counted and left out, and an undecodable log of Seaport fails the read', async () => {
    const { local, collection } = scene;
    const odd = '0x00000000000000000000000000000000000a10dd' as Address;
    const emit = async (topic: string) => {
      // Code that emits a log with that topic and no data: PUSH32 topic, PUSH1 0, PUSH1 0, LOG1.
      await local.rpc.call('anvil_setCode', odd, `0x7f${topic.slice(2)}60006000a1`);
      const { seller } = scene.addresses;
      const mint = callOf(seller as ViemHex, collection, 'mint', [seller, BigInt(topic)]);
      await transact(local, [{ from: seller as ViemHex, to: odd as ViemHex, data: '0x' }, mint]);
      return reader.blocks.head();
    };
    const strange = await emit(TOKEN_TOPICS.transferSingle);
    const contracts = [odd, scene.addresses.collection];
    const events = await readBlockEvents(reader, strange, { protocols: new Map(), contracts });
    assert.deepEqual(
      events.map((event) => event.kind === 'transfer' && event.contract),
      [scene.addresses.collection],
    );
    assert.deepEqual([...reader.unread.byContract()], [[odd, 1]]);
    const foreignKind = await emit(SEAPORT_TOPICS.orderCancelled);
    assert.equal(
      (await readBlockEvents(reader, foreignKind, { protocols: new Map(), contracts })).length,
      1,
      'a Seaport event of a token contract was not ignored',
    );
    const picky = createTestReader({ chain: scene.chain, urls: [local.url], openMs: 10 });
    const error = await picky.events
      .ofBlock(foreignKind, { protocols: new Map([[odd, SEAPORT]]), contracts: [] })
      .catch((thrown) => thrown);
    picky.close();
    assert.ok(error instanceof ChainUnavailable);
    assert.equal(error.failures.get(0)?.kind, 'undecodable');
  });

  test('reading the events of an orphaned block fails with not-found', async () => {
    const { local, collection, addresses } = scene;
    const burn = callOf(addresses.buyer as ViemHex, collection, 'burn', [3n]);
    await transact(local, [burn]);
    const orphan = await reader.blocks.head();
    assert.equal((await readBlockEvents(reader, orphan, filter)).length, 1);
    await rollBack(local, 1);
    await mine(local);
    const head = await reader.blocks.head();
    assert.equal(head.number, orphan.number);
    assert.notEqual(head.hash, orphan.hash);
    await assert.rejects(reader.events.ofBlock(orphan, filter), { name: 'RpcFailure', kind: 'not-found' });
    assert.deepEqual(await reader.events.ofBlock(head, filter), []);
  });
});

/**
 * The events of the history, read without code of the service. Uses eth_getLogs, viem's decoder and the complete contract
 * interfaces.
 */
async function decodedByViem({ local, protocol, collection, editions }: SeaportHistory, filter: EventFilter) {
  const logs = await local.rpc.call<any[]>('eth_getLogs', {
    fromBlock: '0x0',
    toBlock: 'latest',
    address: [...filter.protocols.keys(), ...filter.contracts],
  });
  const abi = [...protocol.seaport.abi, ...collection.abi, ...editions.abi].filter(
    (item) => item.type === 'event',
  ) as Abi;
  const decoded = logs.flatMap((one) => parseEventLogs({ abi, logs: [one], strict: true }).slice(0, 1)) as any[];
  return decoded.flatMap((one) => {
    const { eventName, args, address } = one;
    const place = {
      blockNumber: Number(one.blockNumber),
      blockTime: Number(one.blockTimestamp) * 1000,
      tx: one.transactionHash,
      logIndex: Number(one.logIndex),
      part: 0,
    };
    const lower = (text: string) => text.toLowerCase();
    const item = ({ itemType, token, identifier, amount, recipient }: any) => ({
      itemType,
      token: lower(token),
      identifier,
      amount,
      ...(recipient && { recipient: lower(recipient) }),
    });
    const move = (tokenId: bigint, quantity: bigint, part = 0) => ({
      ...place,
      part,
      kind: 'transfer',
      contract: address,
      tokenId: tokenId.toString(),
      from: lower(args.from),
      to: lower(args.to),
      quantity,
    });
    const order = { ...place, protocol: address, orderHash: args.orderHash };
    switch (eventName) {
      case 'Transfer':
        return [move(args.tokenId, 1n)];
      case 'TransferSingle':
        return [move(args.id, args.value)];
      case 'TransferBatch':
        return args.ids.map((id: bigint, part: number) => move(id, args.values[part], part));
      case 'ApprovalForAll': {
        const { approved } = args;
        const [owner, operator] = [args.owner ?? args.account, args.operator].map(lower);
        return [{ ...place, kind: 'approval-for-all', contract: address, owner, operator, approved }];
      }
      case 'Approval': {
        const operator = /^0x0+$/.test(args.approved) ? null : lower(args.approved);
        const [owner, tokenId] = [lower(args.owner), args.tokenId.toString()];
        return [{ ...place, kind: 'token-approval', contract: address, tokenId, owner, operator }];
      }
      case 'OrderFulfilled': {
        const [offerer, zone, recipient] = [args.offerer, args.zone, args.recipient].map(lower);
        const [offer, consideration] = [args.offer.map(item), args.consideration.map(item)];
        return [{ ...order, kind: 'order-fulfilled', offerer, zone, recipient, offer, consideration }];
      }
      case 'OrderCancelled':
        return [{ ...order, kind: 'order-cancelled', offerer: lower(args.offerer) }];
      case 'OrderValidated':
        return [{ ...order, kind: 'order-validated' }];
      case 'OrdersMatched':
        return [{ ...place, kind: 'orders-matched', protocol: address, orderHashes: args.orderHashes }];
      case 'CounterIncremented': {
        const { newCounter: counter } = args;
        return [{ ...place, kind: 'counter-incremented', protocol: address, offerer: lower(args.offerer), counter }];
      }
      default:
        throw new Error(`an unexpected event: ${eventName}`);
    }
  });
}
