// Finds the sales of pools by the transfers of followed contracts. A pool is a contract that buys and sells tokens, such as a pool of
// Sudoswap. The address of a pool is not known in advance. The events of pools are requested only if a token moved and no other sale explains
// the transfer.

import type { ChainEvent, OrderFulfilled, Transfer } from '../../market/chain-log/chain-event.ts';
import type { Address } from '../../platform/core/address.ts';
import { ZERO_ADDRESS } from '../../platform/core/evm.ts';
import { isTokenItem } from '../../platform/core/seaport.ts';
import { UndecodableData } from './protocols/abi-words.ts';
import type { PoolEvents, Swap } from './protocols/pool-events.ts';
import type { ProtocolContracts } from './protocols/settlement-protocol.ts';
import type { ChainReader } from './rpc/chain-reader.ts';
import type { OnUncompared } from './rpc/endpoint-comparison.ts';
import type { PoolLog } from './rpc/pool-reads.ts';

export type ReadEvents = {
  events: readonly ChainEvent[];
  protocols: ProtocolContracts;
  /** The followed contracts. */
  contracts: ReadonlySet<Address>;
  /** Called if something was accepted without a comparison, because no other endpoint responded. */
  onUncompared?: OnUncompared;
};

/** Returns the fills, in block order. Sends no request if other sales explain all transfers. */
export async function readPoolSales(
  reader: ChainReader,
  { events, protocols, contracts, onUncompared }: ReadEvents,
): Promise<OrderFulfilled[]> {
  const factories = listFactories(protocols);
  if (factories.size === 0) return [];
  const transfers = listUnexplained(events, contracts);
  const [first] = transfers;
  if (!first) return [];
  const topics = new Set([...factories.values()].flatMap(({ decoders }) => [...decoders.keys()]));
  const blocks = { from: first.blockNumber, to: transfers.at(-1)?.blockNumber ?? first.blockNumber };
  const txs = new Set(transfers.map(({ tx }) => tx));
  const onUnread: OnUnread = ({ log, pool }, reason) => {
    reader.unread.count(log, protocols.get(pool.factory)?.name ?? null, reason);
  };
  const swaps = await reader.pools.swaps({ ...blocks, topics, txs }, factories, onUncompared);
  return toPoolSales(swaps, transfers, factories, onUnread);
}

/** Receives each swap of a followed collection that cannot be decoded. */
type OnUnread = (swap: Swap, reason: string) => void;

/** `swaps` and `transfers` are in block order. */
export function toPoolSales(
  swaps: readonly PoolLog[],
  transfers: readonly Transfer[],
  factories: ReadonlyMap<Address, PoolEvents>,
  onUnread: OnUnread,
): OrderFulfilled[] {
  const byTx = Map.groupBy(transfers, ({ tx }) => tx);
  return swaps.flatMap(({ log, pool }, index) => {
    const previous = swaps[index - 1]?.log;
    const after = previous?.tx === log.tx ? previous.logIndex : -1;
    const moved = (byTx.get(log.tx) ?? []).filter(({ logIndex }) => logIndex > after && logIndex < log.logIndex);
    return pool ? (toFillOfPool({ log, pool, moved }, factories, onUnread) ?? []) : [];
  });
}

/** The contracts that create pools, with the decoders of their pools' events. */
export function listFactories(protocols: ProtocolContracts): Map<Address, PoolEvents> {
  return new Map([...protocols].flatMap(([address, { pools }]) => (pools ? [[address, pools]] : [])));
}

/**
 * A transaction is unexplained if, in this transaction, one token of a followed contract has more transfers than fills. Returns all
 * transfers of the unexplained transactions. Mints and burns are left out.
 */
function listUnexplained(events: readonly ChainEvent[], contracts: ReadonlySet<Address>): Transfer[] {
  const transfers = events.filter(
    (event): event is Transfer =>
      event.kind === 'transfer' &&
      contracts.has(event.contract) &&
      event.from !== ZERO_ADDRESS &&
      event.to !== ZERO_ADDRESS,
  );
  const unexplained = new Map<string, number>();
  const count = (key: string, change: number) => unexplained.set(key, (unexplained.get(key) ?? 0) + change);
  for (const { tx, contract, tokenId } of transfers) count(`${tx} ${contract} ${tokenId}`, 1);
  for (const event of events) {
    if (event.kind !== 'order-fulfilled') continue;
    for (const item of [...event.offer, ...event.consideration].filter(isTokenItem))
      count(`${event.tx} ${item.token} ${item.identifier}`, -1);
  }
  const txs = new Set([...unexplained].flatMap(([key, times]) => (times > 0 ? [key.slice(0, key.indexOf(' '))] : [])));
  return transfers.filter(({ tx }) => txs.has(tx));
}

/** Null if no token of the pool moved in the block of the log, if the pool's protocol does not define the event, or if decoding fails. */
function toFillOfPool(
  swap: Swap,
  factories: ReadonlyMap<Address, PoolEvents>,
  onUnread: OnUnread,
): OrderFulfilled | null {
  const { log, pool, moved } = swap;
  const [topic] = log.topics;
  const decode = topic === undefined ? undefined : factories.get(pool.factory)?.decoders.get(topic);
  const ofCollection = moved.filter(({ contract }) => contract === pool.contract);
  const [transfer] = ofCollection;
  // After a reorganisation between two requests, the log and the transfer may be of different blocks.
  if (!decode || transfer?.blockNumber !== log.blockNumber) return null;
  const { blockNumber, tx, logIndex } = log;
  const position = { blockNumber, blockTime: transfer.blockTime, tx, logIndex, part: 0 };
  try {
    return decode(position, { ...swap, moved: ofCollection });
  } catch (error) {
    if (!(error instanceof UndecodableData)) throw error;
    onUnread(swap, error.message);
    return null;
  }
}
