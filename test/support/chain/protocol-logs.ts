// Decodes the logs of one transaction with the code of the follower, and derives its sales with the code of the projection.

import type { ChainEvent, OrderFulfilled } from '../../../src/market/chain-log/chain-event.ts';
import { findProtocol, listProtocolContracts, toMarketplace } from '../../../src/sources/chains/protocols/registry.ts';
import type { VerifiedLog } from '../../../src/sources/chains/protocols/event-decoder.ts';
import { decodeLog, UnreadSale } from '../../../src/sources/chains/protocols/event-decoder.ts';
import type { Pool } from '../../../src/sources/chains/protocols/pool-events.ts';
import { TOKEN_DECODERS } from '../../../src/sources/chains/protocols/token-standards.ts';
import { listFactories, toPoolSales } from '../../../src/sources/chains/pool-sales.ts';
import { completeParties } from '../../../src/sources/chains/sale-parties.ts';
import { toSales } from '../../../src/sources/chains/sales.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Hex } from '../../../src/platform/core/evm.ts';
import { ZERO_HASH } from '../../../src/platform/core/evm.ts';
import type { EncodedLog } from './encoded-logs.ts';

export type TransactionOnChain = {
  tx?: Hex | null;
  /** Null or absent when it is not known who signed the transaction. */
  sender?: Address | null;
  callData?: Hex;
  /** The native currency that the call carries, a decimal number of base units. Null or absent when it is not known. */
  value?: string | null;
  chain?: string;
  /** The pools among the contracts that emitted the logs. */
  pools?: readonly (Pool & { address: string })[];
  /** In the order of the transaction. */
  logs: EncodedLog[];
};

export function decodeTransaction(transaction: TransactionOnChain): ChainEvent[] {
  return decode(transaction).events;
}

/** The reasons for which sales in the transaction cannot be read. */
export function listUnread(transaction: TransactionOnChain): string[] {
  return decode(transaction).unread;
}

function decode({ tx, sender, callData, value = null, chain: id = 'ethereum', pools = [], logs }: TransactionOnChain): {
  events: ChainEvent[];
  unread: string[];
} {
  const chain = createChains().get(id);
  if (!chain) throw new Error(`${id} is not a chain`);
  const contracts = listProtocolContracts(chain, new Map());
  const verified = logs.map(({ address, topics, data }, logIndex): VerifiedLog => {
    const place = {
      blockNumber: 7,
      blockHash: ZERO_HASH,
      tx: tx ?? `0x${'7a'.repeat(32)}`,
      logIndex,
      time: null,
    } as const;
    return { address: address as Address, topics, data, ...place };
  });
  const events: ChainEvent[] = [];
  const unread: string[] = [];
  for (const log of verified) {
    const protocol = contracts.get(log.address);
    try {
      decodeLog(log, protocol?.decoders ?? TOKEN_DECODERS, 5_000, events, () => verified);
    } catch (error) {
      // The reader counts such a log (test/sources/chains/rpc/unread-logs.test.ts), and leaves it out.
      if (!(error instanceof UnreadSale)) throw error;
      unread.push(error.message);
    }
  }
  const swaps = verified.flatMap((log) => {
    const pool = pools.find(({ address }) => address === log.address);
    return pool ? [{ log, pool }] : [];
  });
  const transfers = events.filter((event) => event.kind === 'transfer');
  events.push(...toPoolSales(swaps, transfers, listFactories(contracts), failOnUnread));
  const completed = events.map((event) => {
    if (event.kind !== 'order-fulfilled') return event;
    const read =
      callData === undefined
        ? event
        : (findProtocol(event.protocol).readCallData?.(event, callData, value === null ? null : BigInt(value)) ??
          event);
    return sender ? { ...read, sender } : read;
  });
  return { events: completed, unread };
}

function failOnUnread(_: unknown, reason: string): never {
  throw new Error(reason);
}

/** Returns the sales of the transaction: for each sale, its fill and the facts that the service serves. */
export function salesOfTransaction(transaction: TransactionOnChain) {
  const events = decodeTransaction(transaction);
  const wrappedNative = createChains().get(transaction.chain ?? 'ethereum')?.wrappedNative ?? null;
  const fills = events.filter((event): event is OrderFulfilled => event.kind === 'order-fulfilled');
  const transfers = events.filter((event) => event.kind === 'transfer');
  return completeParties(toSales(fills, { matched: new Set(), wrappedNative }), transfers).map(
    ({ fill, bid, contract, asset, price, seller, buyer }) => ({
      fill,
      facts: { marketplace: toMarketplace(bid === null ? [fill] : [fill, bid]), contract, asset, price, seller, buyer },
    }),
  );
}
