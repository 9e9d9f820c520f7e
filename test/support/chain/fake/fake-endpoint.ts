// A JSON-RPC endpoint on loopback that serves a simulated chain, truthfully or with one kind of lie or failure.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { toFunctionSelector } from 'viem';
import type { SeededRandom } from '../../../../devnet/random.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import type { FakeBlock, FakeChain } from './fake-chain.ts';
import { FINALIZED_BEHIND, toOwners } from './fake-chain.ts';
import type { FakeLog } from './fake-logs.ts';
import { accountOf, WRAPPED } from './fake-logs.ts';
import { stateAt } from './fake-trades.ts';

export const FAKE_MODES = [
  'honest',
  /** Three of ten logs are left out of each response. */
  'some-logs',
  'no-logs',
  /** Every transfer has another receiver. */
  'altered-receivers',
  /** The newest block is one of the past. */
  'old-head',
  /** Serves the chain before the last reorganisation. */
  'orphans',
  /** Every hash of a block is another. */
  'other-hashes',
  'other-chain-id',
  'null-transactions',
  'html',
  'unavailable',
  'rate-limited',
  'late',
] as const;
export type FakeMode = (typeof FAKE_MODES)[number];

export type FakeEndpoint = {
  url: string;
  mode: FakeMode;
  /** The probability that a request fails or is late, whatever the mode. */
  failureShare: number;
  /** Requests, and those of them that were answered while the mode was not `honest`. */
  requests: { all: number; false: number };
  close(): Promise<void>;
};

type Call = { id: number; method: string; params: unknown[] };

const OLD_BLOCKS = 25;
const LATE_MS_MAX = 120;
const LEFT_OUT_SHARE = 0.3;
const hex = (value: number | bigint): Hex => `0x${value.toString(16)}`;

export async function startFakeEndpoint(chain: FakeChain, random: SeededRandom): Promise<FakeEndpoint> {
  const respond = async (body: Call | Call[], response: http.ServerResponse) => {
    const isFailing = random.happens(endpoint.failureShare);
    const mode = isFailing ? random.pick(['rate-limited', 'unavailable', 'late'] as const) : endpoint.mode;
    endpoint.requests.all += 1;
    if (endpoint.mode !== 'honest') endpoint.requests.false += 1;
    if (mode === 'late') await delay(random.below(LATE_MS_MAX));
    if (mode === 'html') {
      response.setHeader('content-type', 'text/html');
      response.end('<html><body>Please log in</body></html>');
      return;
    }
    if (mode === 'unavailable' || mode === 'rate-limited') {
      response.statusCode = mode === 'unavailable' ? 503 : 429;
      response.end();
      return;
    }
    const view = viewOf(chain, mode ?? 'honest');
    const results = [body]
      .flat()
      .map((call) => ({ jsonrpc: '2.0', id: call.id, ...answer(call, view, mode ?? 'honest', random) }));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(body) ? results : results[0]));
  };
  const server = http.createServer((request, response) => {
    json(request)
      .then((body) => respond(body as Call | Call[], response))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint: FakeEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode: 'honest',
    failureShare: 0,
    requests: { all: 0, false: 0 },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}

function viewOf({ blocks, orphaned }: FakeChain, mode: FakeMode): readonly FakeBlock[] {
  if (mode === 'orphans' && orphaned.length > 0) return orphaned;
  return mode === 'old-head' ? blocks.slice(0, Math.max(1, blocks.length - OLD_BLOCKS)) : blocks;
}

type Answer = { result: unknown } | { error: { code: number; message: string } };

function answer({ method, params }: Call, view: readonly FakeBlock[], mode: FakeMode, random: SeededRandom): Answer {
  const rename = (hash: Hex): Hex => (mode === 'other-hashes' ? `${hash.slice(0, -4) as Hex}0bad` : hash);
  const find = (tag: unknown) => findBlock(view, tag);
  const toBlock = (block: FakeBlock | undefined) =>
    block
      ? {
          number: hex(block.number),
          hash: rename(block.hash),
          parentHash: rename(block.parentHash),
          timestamp: hex(block.timeS),
          transactions: [],
        }
      : null;
  switch (method) {
    case 'eth_chainId':
      return { result: mode === 'other-chain-id' ? '0x539' : '0x1' };
    case 'eth_getBlockByNumber':
      return { result: toBlock(find(params[0])) };
    case 'eth_getBlockByHash':
      return { result: toBlock(view.find(({ hash }) => rename(hash) === params[0])) };
    case 'eth_getTransactionByHash': {
      const found = view.flatMap(({ transactions }) => transactions).find(({ hash }) => hash === params[0]);
      if (!found || mode === 'null-transactions') return { result: null };
      return { result: { hash: found.hash, from: found.from, input: found.input, value: hex(found.value) } };
    }
    case 'eth_getLogs': {
      const logs = toLogs(params[0] as LogFilter, view, rename);
      return logs ? { result: lieAbout(logs, mode, random) } : { error: { code: -32_000, message: 'unknown block' } };
    }
    case 'eth_getCode':
      return { result: '0x00' };
    case 'eth_call':
      return callContract(params, view);
    default:
      return { error: { code: -32_601, message: 'the method does not exist' } };
  }
}

function findBlock(view: readonly FakeBlock[], tag: unknown): FakeBlock | undefined {
  if (tag === 'latest') return view.at(-1);
  if (tag === 'finalized') return view[Math.max(0, view.length - 1 - FINALIZED_BEHIND)];
  return view[Number(tag)];
}

type LogFilter = { blockHash?: Hex; fromBlock?: Hex; toBlock?: Hex; address?: Hex[]; topics?: (Hex[] | null)[] };
type ServedLog = { address: Hex; topics: Hex[]; logIndex: Hex };

/** Null if the block is not known. */
function toLogs(filter: LogFilter, view: readonly FakeBlock[], rename: (hash: Hex) => Hex): ServedLog[] | null {
  const { blockHash, fromBlock, toBlock, address, topics } = filter;
  const blocks =
    blockHash === undefined
      ? view.slice(Number(fromBlock), Number(toBlock) + 1)
      : view.filter(({ hash }) => rename(hash) === blockHash);
  if (blockHash !== undefined && blocks.length === 0) return null;
  const hasTopics = (log: FakeLog) =>
    (topics ?? []).every((wanted, place) => !wanted || wanted.includes(log.topics[place] ?? '0x'));
  return blocks.flatMap((block) =>
    block.transactions.flatMap(({ hash, logs }, index) =>
      logs
        .filter((log) => (!address || address.includes(log.address)) && hasTopics(log))
        .map((log) => ({
          ...log,
          logIndex: hex(log.logIndex),
          blockNumber: hex(block.number),
          blockHash: rename(block.hash),
          blockTimestamp: hex(block.timeS),
          transactionHash: hash,
          transactionIndex: hex(index),
          removed: false,
        })),
    ),
  );
}

function lieAbout(logs: readonly ServedLog[], mode: FakeMode, random: SeededRandom): readonly ServedLog[] {
  if (mode === 'no-logs') return [];
  if (mode === 'some-logs') return logs.filter(() => !random.happens(LEFT_OUT_SHARE));
  if (mode !== 'altered-receivers') return logs;
  return logs.map((log) => {
    const [topic, from, to, tokenId] = log.topics;
    if (!topic || !from || !to || !tokenId) return log;
    const other = accountOf(Number(`0x${to.slice(-2)}`) + 1);
    return { ...log, topics: [topic, from, `0x${other.slice(2).padStart(64, '0')}`, tokenId] };
  });
}

/** Answers calls of a collection, of Seaport and of the wrapped currency, as of the block of the call. */
function callContract([call, tag]: unknown[], view: readonly FakeBlock[]): Answer {
  const { to, data, input } = call as { to: string; data?: string; input?: string };
  const text = data ?? input ?? '';
  const block = findBlock(view, tag);
  const answerTo = CALLS[text.slice(0, SELECTOR_LENGTH)];
  const words = text.slice(SELECTOR_LENGTH).match(/.{64}/g) ?? [];
  const result = block && answerTo ? answerTo(view.slice(0, block.number + 1), to, words) : null;
  return result ? { result } : { error: { code: 3, message: 'execution reverted' } };
}

const SELECTOR_LENGTH = '0x12345678'.length;
const toWord = (value: bigint | boolean) => BigInt(value).toString(16).padStart(64, '0');
const accountIn = (word = ''): Hex => `0x${word.slice(-40)}`;

/** The result of a call, or null if it reverts: by the selector. */
const CALLS: Readonly<
  Record<string, (view: readonly FakeBlock[], to: string, words: readonly string[]) => Hex | null>
> = {
  [toFunctionSelector('ownerOf(uint256)')]: (view, to, [id]) => {
    const owner = toOwners(view)
      .get(to)
      ?.get(Number(`0x${id}`));
    return owner ? `0x${owner.slice(2).padStart(64, '0')}` : null;
  },
  [toFunctionSelector('getCounter(address)')]: (view, _to, [account]) =>
    `0x${toWord(stateAt(view).counters.get(accountIn(account)) ?? 0n)}`,
  [toFunctionSelector('getOrderStatus(bytes32)')]: (view, _to, [hash]) => {
    const { cancelled, filled } = stateAt(view);
    const { units, of } = filled.get(`0x${hash}`) ?? { units: 0n, of: 0n };
    return `0x${[false, cancelled.has(`0x${hash}`), units, of].map(toWord).join('')}`;
  },
  [toFunctionSelector('balanceOf(address)')]: (view, to, [account]) =>
    to === WRAPPED ? `0x${toWord(stateAt(view).balances.get(accountIn(account)) ?? 0n)}` : null,
  [toFunctionSelector('allowance(address,address)')]: (view, to, [account]) =>
    to === WRAPPED ? `0x${toWord(stateAt(view).allowances.get(accountIn(account)) ?? 0n)}` : null,
};
