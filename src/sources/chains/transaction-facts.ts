// Adds to fills the facts that their logs do not have: the sender of the transaction, the marketplace tag at the end of its call data, and
// what the settlement protocol reads from the call data.

import type { ChainEvent, OrderFulfilled } from '../../market/chain-log/chain-event.ts';
import type { Hex } from '../../platform/core/evm.ts';
import type { ReadEvents } from './pool-sales.ts';
import { readPoolSales } from './pool-sales.ts';
import { findProtocol } from './protocols/registry.ts';
import type { ChainReader } from './rpc/chain-reader.ts';
import type { Transaction } from './rpc/transactions.ts';

const TAG_DIGITS = 8;

/** Returns the events and the sales of pools (pool-sales.ts) in block order, with the facts of their transactions. */
export async function completeEvents(reader: ChainReader, read: ReadEvents): Promise<ChainEvent[]> {
  const { events } = read;
  const [completed, ofPools] = await Promise.all([
    addTransactionFacts(reader, events, read),
    readPoolSales(reader, read).then((fills) => addTransactionFacts(reader, fills, read)),
  ]);
  return ofPools.length === 0 ? completed : [...completed, ...ofPools].sort(byPosition);
}

function byPosition(a: ChainEvent, b: ChainEvent): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex || a.part - b.part;
}

/** Returns the events. Facts are added to fills that moved tokens of the given contracts, if an endpoint has their transactions. */
async function addTransactionFacts(
  reader: ChainReader,
  events: readonly ChainEvent[],
  { contracts, onUncompared }: ReadEvents,
): Promise<ChainEvent[]> {
  const isRelevantFill = (event: ChainEvent): event is OrderFulfilled =>
    event.kind === 'order-fulfilled' &&
    [...event.offer, ...event.consideration].some(({ token }) => contracts.has(token));
  const txs = events.filter(isRelevantFill).map((event) => event.tx);
  if (txs.length === 0) return [...events];
  const transactions = await reader.transactions(txs, onUncompared);
  return events.map((event) => {
    const transaction = isRelevantFill(event) ? transactions.get(event.tx) : undefined;
    return transaction && isRelevantFill(event) ? addFacts(event, transaction) : event;
  });
}

function addFacts(fill: OrderFulfilled, { sender, callData, value }: Transaction): OrderFulfilled {
  const protocol = findProtocol(fill.protocol);
  const completed = protocol.readCallData?.(fill, callData, value === null ? null : BigInt(value)) ?? fill;
  return { ...completed, domain: tagOf(callData), ...(sender !== null && { sender }) };
}

/** The last four bytes, which marketplaces use as their tag. */
function tagOf(callData: Hex): Hex {
  return `0x${callData.slice(2).slice(-TAG_DIGITS)}`;
}
