// Measures how many EVM logs one core decodes in a second. Decoding begins with the text of an eth_getLogs response and ends with validated
// events. The logs are a mix of Seaport fills, batch transfers, approvals and transfers.

import type { Address } from '../../src/platform/core/address.ts';
import type { ChainEvent } from '../../src/market/chain-log/chain-event.ts';
import { decodeLog } from '../../src/sources/chains/protocols/event-decoder.ts';
import { SEAPORT, SEAPORT_TOPICS } from '../../src/sources/chains/protocols/seaport.ts';
import { TOKEN_DECODERS, TOKEN_TOPICS } from '../../src/sources/chains/protocols/token-standards.ts';
import { readLogs } from '../../src/sources/chains/rpc/log-response.ts';
import { median } from '../support/measure.ts';
import { judge } from '../support/verdict.ts';
import type { Hex } from '../../src/platform/core/evm.ts';

const ROUNDS = 9;
const BLOCKS = 200;
const LOGS_A_BLOCK = 100;
/** How many of 100 EVM logs are Seaport fills, batch transfers and approvals. The others are transfers. */
const FILLS = 10;
const BATCHES = 2;
const APPROVALS = 15;
/**
 * The number of relevant EVM logs in a second on a very busy chain. It is assumed, not measured. The measured rate is printed as a multiple
 * of this number.
 */
const ASSUMED_A_SECOND = 200;

const PROTOCOL = '0x0000000000000068f116a894984e2db1123eb395' as Address;
const CONTRACT = '0x00000000000000000000000000000000000c0117' as Address;

export async function benchDecode(): Promise<void> {
  const text = JSON.stringify(Array.from({ length: BLOCKS }, (_, block) => block).flatMap(logsOfBlock));
  const topics = new Set<string>([...SEAPORT.decoders.keys(), ...TOKEN_DECODERS.keys()]);
  const question = { addresses: new Set<string>([PROTOCOL, CONTRACT]), topics, from: 0, to: BLOCKS, hashes: new Map() };
  const rates: number[] = [];
  let events: ChainEvent[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    events = [];
    for (const log of readLogs(JSON.parse(text), question))
      decodeLog(log, log.address === PROTOCOL ? SEAPORT.decoders : TOKEN_DECODERS, log.time ?? 0, events);
    rates.push((BLOCKS * LOGS_A_BLOCK * 1000) / (performance.now() - start));
  }
  const rate = median(rates);
  judge({
    name: 'decode, EVM logs on one core',
    figure: rate,
    unit: 'logs/s',
    rounds: rates,
    aim: null,
    beside:
      `${(text.length / 2 ** 20).toFixed(1)} MiB, ${BLOCKS * LOGS_A_BLOCK} logs, ${events.length} events a round; ` +
      `${Math.round(rate / ASSUMED_A_SECOND)} times the ${ASSUMED_A_SECOND} logs/s that are assumed for a very busy chain`,
  });
}

function logsOfBlock(block: number): object[] {
  return Array.from({ length: LOGS_A_BLOCK }, (_, index) => ({
    ...membersOf(block * LOGS_A_BLOCK + index, index),
    blockNumber: `0x${block.toString(16)}`,
    blockHash: `0x${word(block + 1)}`,
    blockTimestamp: `0x${(1_700_000_000 + block).toString(16)}`,
    transactionHash: `0x${word(block * LOGS_A_BLOCK + index + 1)}`,
    transactionIndex: '0x0',
    logIndex: `0x${index.toString(16)}`,
    removed: false,
  }));
}

function membersOf(number: number, index: number): { address: Address; topics: Hex[]; data: Hex } {
  const [from, to] = [hex(number + 1), hex(number + 2)];
  if (index < FILLS)
    return { address: PROTOCOL, topics: [SEAPORT_TOPICS.orderFulfilled, from, hex(0)], data: fill(number) };
  if (index < FILLS + BATCHES) {
    const list = [4, 1, 2, 3, 4];
    const data: Hex = `0x${[0x40, 0xe0, ...list, ...list].map(word).join('')}`;
    return { address: CONTRACT, topics: [TOKEN_TOPICS.transferBatch, from, from, to], data };
  }
  if (index < FILLS + BATCHES + APPROVALS)
    return { address: CONTRACT, topics: [TOKEN_TOPICS.approvalForAll, from, to], data: hex(1) };
  return { address: CONTRACT, topics: [TOKEN_TOPICS.transfer, from, to, hex(number)], data: '0x' };
}

/** The data of a Seaport fill: one token is sold for three payments (price, fee and royalty). */
function fill(number: number): Hex {
  const wei = (tenths: number) => (BigInt(tenths) * 10n ** 17n).toString(16).padStart(64, '0');
  const payment = (to: number) => [word(0), word(0), word(0), wei(number % 50), word(to)];
  const offer = [word(1), word(2), `${'0'.repeat(24)}${CONTRACT.slice(2)}`, word(number), word(1)];
  const consideration = [word(3), ...payment(1), ...payment(2), ...payment(3)];
  return `0x${[word(number), word(number + 2), word(0x80), word(0x80 + offer.length * 32), ...offer, ...consideration].join('')}`;
}

const word = (value: number) => value.toString(16).padStart(64, '0');
const hex = (value: number): Hex => `0x${word(value)}`;
