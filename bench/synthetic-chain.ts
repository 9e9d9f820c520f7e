// A separate process that simulates an EVM node. Usage: synthetic-chain.ts BLOCKS FILLS TRANSFERS LATENCY OTHERS MOVES. Each of the BLOCKS
// blocks has FILLS Seaport fills and TRANSFERS transfers of one collection, and OTHERS sales on Blur of another collection. The logs of a
// block are generated on request. If MOVES is 0, all transfers are mints. Otherwise every second transfer moves the token that the preceding
// transfer has minted. Each response is delayed by LATENCY ms. The port is printed to standard output. A GET returns the number of calls.

import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { BLUR, COLLECTION, PROTOCOL } from './synthetic.ts';

const [blocks = 0, fills = 0, transfers = 0, latencyMs = 0, others = 0, moves = 0] = process.argv.slice(2).map(Number);
const GENESIS_S = 1_700_000_000;
const BLOCK_S = 2;
const RANGE_MAX = 2_000;
const NO_BLOOM = `0x${'0'.repeat(512)}`;

const SEAPORT = parseAbi([
  'struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }',
  'struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }',
  'event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)',
]);
const NFT = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)']);
const word = (value: number | bigint) => value.toString(16).padStart(64, '0');
const account = (index: number) => `0x${word(index + 1).slice(24)}` as const;
const ZERO = account(-1);
const FULFILLED = encodeEventTopics({ abi: SEAPORT, args: { offerer: ZERO, zone: ZERO } });
const TRANSFER = encodeEventTopics({ abi: NFT, args: { from: ZERO, to: ZERO, tokenId: 0n } })[0];
/** The first topic of `Execution721Packed` of Blur's second exchange. */
const EXECUTED = '0x1d5e12b51dee5e4d34434576c3fb99714a85f57b0fd546ada4b0bddd736d12b2';

/** The placeholders of the order hash and of the token id in the data of a fill. */
const HASH_MARK = 'a5'.repeat(32);
const TOKEN_MARK = 0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5an;
const FILL_DATA = encodeAbiParameters(
  SEAPORT[0].inputs.filter((input) => !('indexed' in input)),
  [
    `0x${HASH_MARK}`,
    account(9),
    [{ itemType: 2, token: COLLECTION, identifier: TOKEN_MARK, amount: 1n }],
    [
      { itemType: 0, token: ZERO, identifier: 0n, amount: 975n * 10n ** 15n, recipient: account(8) },
      { itemType: 0, token: ZERO, identifier: 0n, amount: 25n * 10n ** 15n, recipient: account(7) },
    ],
  ] as never,
);

const hashOf = (number: number) => `0x${word(0xb10c_0000_0000 + number)}`;
const numberOf = (hash: string) => Number(BigInt(hash) - 0xb10c_0000_0000n);
const headerOf = (number: number) => ({
  number: `0x${number.toString(16)}`,
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  timestamp: `0x${(GENESIS_S + number * BLOCK_S).toString(16)}`,
  logsBloom: NO_BLOOM,
  transactions: [],
});

const txOf = (number: number, index: number) => `0x${word(number * 10_000 + index)}`;

/**
 * A complete block. It has fields that other indexers read and the service does not, and one transaction for each log of the collection and
 * of Seaport.
 */
const completeBlockOf = (number: number) => ({
  ...headerOf(number),
  miner: ZERO,
  gasUsed: '0x0',
  gasLimit: '0x0',
  baseFeePerGas: '0x0',
  nonce: '0x0',
  extraData: '0x',
  size: '0x0',
  receiptsRoot: hashOf(0),
  stateRoot: hashOf(0),
  transactionsRoot: hashOf(0),
  sha3Uncles: hashOf(0),
  transactions: Array.from({ length: fills + transfers }, (_, index) => ({
    hash: txOf(number, index),
    transactionIndex: `0x${index.toString(16)}`,
    blockHash: hashOf(number),
    blockNumber: `0x${number.toString(16)}`,
    type: '0x0',
    input: '0x',
    from: account(0),
    to: COLLECTION,
    value: '0x0',
    nonce: '0x0',
    gas: '0x0',
    gasPrice: '0x0',
    r: '0x0',
    s: '0x0',
    v: '0x0',
  })),
});

function logsOf(number: number, addresses: readonly string[]): string[] {
  const logs: string[] = [];
  const frame = (index: number, address: string, topics: (string | null)[], data: string) =>
    `{"address":"${address}","topics":${JSON.stringify(topics)},"data":"${data}","blockNumber":"0x${number.toString(16)}",` +
    `"blockHash":"${hashOf(number)}","blockTimestamp":"0x${(GENESIS_S + number * BLOCK_S).toString(16)}",` +
    `"transactionHash":"${txOf(number, index)}","transactionIndex":"0x${index.toString(16)}","logIndex":"0x${index.toString(16)}","removed":false}`;
  for (let fill = 0; fill < fills; fill += 1) {
    const unique = number * fills + fill;
    const data = FILL_DATA.replace(HASH_MARK, word(unique)).replace(word(TOKEN_MARK), word(unique % 10_000));
    logs.push(frame(logs.length, PROTOCOL, [...FULFILLED] as string[], data));
  }
  for (let transfer = 0; transfer < transfers; transfer += 1) {
    const isMove = moves > 0 && transfer % 2 === 1;
    const unique = number * transfers + transfer - (isMove ? 1 : 0);
    const [minter, mover] = [1 + (unique % 5_000), 5_001 + (unique % 5_000)];
    const [from, to] = isMove ? [minter, mover] : [0, minter];
    logs.push(
      frame(logs.length, COLLECTION, [TRANSFER, `0x${word(from)}`, `0x${word(to)}`, `0x${word(unique)}`], '0x'),
    );
  }
  if (!addresses.includes(BLUR)) return logs;
  for (let sale = 0; sale < others; sale += 1) {
    const token = (BigInt(sale) << 168n) | BigInt(account(9));
    const price = ((10n ** 18n) << 160n) | BigInt(account(8));
    logs.push(frame(logs.length, BLUR, [EXECUTED], `0x${word(number)}${word(token)}${word(price)}`));
  }
  return logs;
}

type Request = {
  id: number;
  method: string;
  params: [Record<string, string> & { address?: readonly string[] }, ...unknown[]];
};

function respond({ id, method, params }: Request): string {
  const wrap = (result: string) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  if (method === 'eth_chainId') return wrap('"0x1"');
  if (method === 'eth_getBlockByNumber') {
    const named = params[0] as unknown as string;
    const number = named === 'latest' || named === 'finalized' ? blocks : Number(named);
    if (number > blocks) return wrap('null');
    return wrap(JSON.stringify(params[1] === true ? completeBlockOf(number) : headerOf(number)));
  }
  if (method === 'eth_getBlockByHash') return wrap(JSON.stringify(headerOf(numberOf(params[0] as unknown as string))));
  if (method === 'eth_getLogs') {
    const { fromBlock, toBlock, blockHash } = params[0];
    const { address } = params[0];
    const from = blockHash === undefined ? Number(fromBlock) : numberOf(blockHash);
    const to = blockHash === undefined ? Number(toBlock) : from;
    if (to - from >= RANGE_MAX) {
      return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32005,"message":"query exceeds max block range ${RANGE_MAX}"}}`;
    }
    const logs: string[] = [];
    // A request for the logs of all contracts looks for swaps of pools. This chain has no pools.
    if (!address) return wrap('[]');
    for (let number = from; number <= to; number += 1) logs.push(...logsOf(number, address));
    return wrap(`[${logs.join(',')}]`);
  }
  if (method === 'eth_getTransactionByHash') {
    return wrap(JSON.stringify({ hash: params[0], input: '0x12345678360c6ebe' }));
  }
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"no such method"}}`;
}

let calls = 0;

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(String(calls));
    return;
  }
  text(request).then(
    async (body) => {
      await delay(latencyMs);
      const received = JSON.parse(body) as Request | Request[];
      calls += Array.isArray(received) ? received.length : 1;
      const sent = Array.isArray(received) ? `[${received.map(respond).join(',')}]` : respond(received);
      response.writeHead(200, { 'content-type': 'application/json' }).end(sent);
    },
    () => response.destroy(),
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' && address ? address.port : 0}\n`);
});
