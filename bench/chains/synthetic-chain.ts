// A separate process that simulates an EVM node. Usage: synthetic-chain.ts BLOCKS FILLS TRANSFERS LATENCY OTHERS MOVES. Each of the BLOCKS
// blocks has FILLS Seaport fills and TRANSFERS transfers of one collection, and OTHERS sales on Blur of another collection. The logs of a
// block are generated on request. If MOVES is 0, all transfers are mints. Otherwise every second transfer moves the token that the preceding
// transfer has minted. Each response is delayed by LATENCY ms. The port is printed to standard output. A GET returns the number of calls.

import { account, encodeFill, transferTopics, ZERO } from './chain-logs.ts';
import { hashOf, serveChain, toLogText, txOf, word } from './chain-node.ts';
import { BLUR, COLLECTION, PROTOCOL } from './synthetic.ts';

const [blocks = 0, fills = 0, transfers = 0, latencyMs = 0, others = 0, moves = 0] = process.argv.slice(2).map(Number);
/** The first topic of `Execution721Packed` of Blur's second exchange. */
const EXECUTED = '0x1d5e12b51dee5e4d34434576c3fb99714a85f57b0fd546ada4b0bddd736d12b2';

/** The placeholders of the order hash and of the token id in the data of a fill. Encoding each fill would take most of the chain's time. */
const HASH_MARK = 'a5'.repeat(32);
const TOKEN_MARK = 0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5an;
const FILL = encodeFill({
  orderHash: `0x${HASH_MARK}`,
  offerer: account(8),
  recipient: account(9),
  contract: COLLECTION,
  tokenId: TOKEN_MARK,
  price: 10n ** 18n,
});

/** One transaction for each log of the collection and of Seaport. */
const transactionsOf = (number: number) =>
  Array.from({ length: fills + transfers }, (_, index) => ({
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
  }));

function logsOf(number: number, addresses: ReadonlySet<string>): string[] {
  const logs: string[] = [];
  const add = (address: string, topics: readonly (string | null)[], data: string) =>
    logs.push(toLogText({ block: number, index: logs.length, address, topics, data }));
  for (let fill = 0; fill < fills; fill += 1) {
    const unique = number * fills + fill;
    add(
      PROTOCOL,
      FILL.topics,
      FILL.data.replace(HASH_MARK, word(unique)).replace(word(TOKEN_MARK), word(unique % 10_000)),
    );
  }
  for (let transfer = 0; transfer < transfers; transfer += 1) {
    const isMove = moves > 0 && transfer % 2 === 1;
    const unique = number * transfers + transfer - (isMove ? 1 : 0);
    const [minter, mover] = [account(unique % 5_000), account(5_000 + (unique % 5_000))];
    const [from, to] = isMove ? [minter, mover] : [ZERO, minter];
    add(COLLECTION, transferTopics({ from, to, tokenId: BigInt(unique) }), '0x');
  }
  if (!addresses.has(BLUR)) return logs;
  for (let sale = 0; sale < others; sale += 1) {
    const token = (BigInt(sale) << 168n) | BigInt(account(9));
    const price = ((10n ** 18n) << 160n) | BigInt(account(8));
    add(BLUR, [EXECUTED], `0x${word(number)}${word(token)}${word(price)}`);
  }
  return logs;
}

serveChain({ head: () => blocks, logsOf, transactionsOf, latencyMs });
