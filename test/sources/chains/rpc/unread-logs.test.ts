// Tests that a sale of a followed collection that was seen and cannot be read is counted by protocol: in the status and the metrics. The logs are encoded by the published interfaces of the contracts.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { encodeAbiParameters, zeroAddress } from 'viem';
import { readChainStatus } from '../../../../src/sources/chains/chain-status.ts';
import { BLUR_V2_TOPICS } from '../../../../src/sources/chains/protocols/blur-v2.ts';
import { LOOKSRARE_V1_TOPICS } from '../../../../src/sources/chains/protocols/looksrare-v1.ts';
import { listProtocolContracts } from '../../../../src/sources/chains/protocols/registry.ts';
import { ZORA_V3_TOPICS } from '../../../../src/sources/chains/protocols/zora-v3.ts';
import type { Address } from '../../../../src/platform/core/address.ts';
import { createChains } from '../../../../src/platform/core/chains.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import { GaugeTable } from '../../../../src/service/metrics/gauge-table.ts';
import { setChainMetrics } from '../../../../src/service/metrics/task-metrics.ts';
import type { EncodedLog } from '../../../support/chain/encoded-logs.ts';
import { AT, logOf, transferOf } from '../../../support/chain/encoded-logs.ts';
import { createTestReader } from '../../../support/chain/reader.ts';
import { startReceipts } from '../../../support/chain/receipts-endpoint.ts';
import { forOneEngine } from '../../../support/engines/each-engine.ts';
import { toContext } from '../../../support/service/intake.ts';

const CHAIN = createChains().get('ethereum') ?? assert.fail();
const PROTOCOLS = listProtocolContracts(CHAIN, new Map());
const address = (digit: string) => `0x${digit.repeat(40)}` as const;
const hash = (digits: string) => `0x${digits.repeat(32)}` as const;
const [SELLER, BUYER, NFT, STRANGER] = ['a', 'b', 'd', '8'].map(address) as [Hex, Hex, Address & Hex, Hex];

/** Reads each list of logs as one transaction, and returns the events and the counts by protocol. */
async function read(t: TestContext, ...transactions: EncodedLog[][]) {
  const url = await startReceipts(
    t,
    transactions.map((logs, index) => [{ hash: hash(`0${index + 1}`), from: BUYER, to: AT.wyvern, input: '0x', logs }]),
  );
  const reader = createTestReader({ chain: CHAIN, urls: [url] });
  t.after(() => reader.close());
  const filter = { protocols: PROTOCOLS, contracts: [NFT] };
  const { events } = await reader.events.ofRange(1, transactions.length, filter);
  await reader.events.ofRange(1, transactions.length, filter);
  return { fills: events.filter(({ kind }) => kind === 'order-fulfilled').length, counts: reader.unread.byProtocol() };
}

const moved = transferOf(NFT, SELLER, STRANGER, 7n);
const wyvernMatch = logOf('wyvern', 'ordersMatched', {
  buyHash: hash('00'),
  sellHash: hash('02'),
  maker: address('1'),
  taker: address('2'),
  price: 5n,
  metadata: hash('00'),
});
const parties = { seller: address('1'), bidder: address('2') };
const auction = logOf('foundation', 'reserveAuctionFinalized', {
  auctionId: 3n,
  ...parties,
  totalFees: 1n,
  creatorRev: 1n,
  sellerRev: 1n,
});
const match = {
  leftHash: hash('0c'),
  rightHash: hash('0d'),
  leftMaker: SELLER,
  rightMaker: BUYER,
  newLeftFill: 6n,
  newRightFill: 1n,
};
const lazyToken = {
  assetClass: '0xd8f960c1',
  data: encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [NFT, 7n]),
};
const token = { ...lazyToken, assetClass: '0x73ad2146' };
const inventory = (op: number, delegateType: bigint) =>
  logOf('x2y2', 'inventory', {
    itemHash: hash('0b'),
    maker: SELLER,
    taker: BUYER,
    orderSalt: 1n,
    settleSalt: 2n,
    intent: 1n,
    delegateType,
    deadline: 9n,
    currency: zeroAddress,
    dataMask: '0x',
    item: { price: 90n, data: '0x' },
    detail: {
      op,
      orderIdx: 0n,
      itemIdx: 0n,
      price: 100n,
      itemHash: hash('0b'),
      executionDelegate: STRANGER,
      dataReplacement: '0x',
      bidIncentivePct: 0n,
      aucMinIncrementPct: 0n,
      aucIncDurationSecs: 0n,
      fees: [],
    },
  });
const raribleAssets = { leftAsset: lazyToken, rightAsset: { assetClass: '0xaaaebeba', data: '0x' } };

const UNREAD: [reason: string, protocol: string, log: EncodedLog][] = [
  ['a match of accounts between which no token moved', 'wyvern', wyvernMatch],
  ['an auction whose token the market did not send', 'foundation', auction],
  ['a match without its assets', 'rarible-v2', logOf('raribleV2', 'matchWithoutAssets', match)],
  [
    'a match of a token that is minted later',
    'rarible-v2',
    logOf('raribleV2', 'match', { ...match, ...raribleAssets }),
  ],
  ['an auction without its final price', 'x2y2', inventory(5, 1n)],
  ['a sale of an unknown kind of token', 'x2y2', inventory(1, 9n)],
];

suite('sales that cannot be read', () => {
  for (const [reason, protocol, log] of UNREAD) {
    test(`${protocol}: ${reason} is counted once if a followed token moved, and not otherwise`, async (t) => {
      assert.deepEqual(await read(t, [moved, log], [log]), { fills: 0, counts: new Map([[protocol, 1]]) });
    });
  }

  test('a log that does not have the form of its event is counted by protocol', async (t) => {
    const logs: EncodedLog[] = [
      { address: AT.looksRareV1, topics: [LOOKSRARE_V1_TOPICS.takerBid], data: '0x' },
      { address: AT.zoraV3, topics: [ZORA_V3_TOPICS.askFilled], data: '0x' },
      { address: AT.blurV2, topics: [BLUR_V2_TOPICS.execution], data: '0x' },
    ];
    const { counts } = await read(t, logs);
    assert.deepEqual(
      new Map(counts),
      new Map([
        ['looksrare-v1', 1],
        ['zora-v3', 1],
        ['blur-v2', 1],
      ]),
    );
  });

  test('no sale of another collection is counted, and neither is an event that is no sale', async (t) => {
    const cancelled = inventory(3, 1n);
    const swap = logOf('raribleV2', 'match', { ...match, leftAsset: token, rightAsset: token });
    const { counts } = await read(t, [wyvernMatch, auction], [moved, cancelled, swap]);
    assert.deepEqual([...counts], []);
  });
});

forOneEngine('the counts of sales that cannot be read', (engine) => {
  test('are in the status and the metrics of the chain', async (t) => {
    const url = await startReceipts(t, [
      [{ hash: hash('01'), from: BUYER, to: AT.wyvern, input: '0x', logs: [moved, wyvernMatch, inventory(5, 1n)] }],
    ]);
    const context = toContext(await engine.open(), { settings: { RPC_URL_ETHEREUM: url }, clock: Date.now });
    t.after(() => context.followed.close());
    const reader = context.followed.readerOf('ethereum') ?? assert.fail('there is no reader');
    await reader.events.ofRange(1, 1, { protocols: context.followed.protocolsOf('ethereum'), contracts: [NFT] });
    const status = await readChainStatus(context);
    assert.deepEqual(status[0]?.unread, [
      { protocol: 'wyvern', logs: 1 },
      { protocol: 'x2y2', logs: 1 },
    ]);
    assert.equal(status[0]?.undecodableLogs, 2);
    const gauges = new GaugeTable();
    setChainMetrics(gauges, status);
    const metrics = await gauges.registry.metrics();
    assert.match(metrics, /^mercat_chain_unread_protocol_logs_total\{chain="ethereum",protocol="wyvern"\} 1$/m);
  });
});
