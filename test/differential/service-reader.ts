// Reads receipts with the code of the service, from the endpoint of a chain to its sales, without a database: the reader of the chain, the
// facts of transactions and pools, and the rules of the projection.

import { toLogEffects } from '../../src/sources/chains/log-effects.ts';
import { toSalesOfTransaction } from '../../src/sources/chains/projection.ts';
import { listProtocolContracts, toMarketplace } from '../../src/sources/chains/protocols/registry.ts';
import { completeEvents } from '../../src/sources/chains/transaction-facts.ts';
import type { Address } from '../../src/platform/core/address.ts';
import { createChains } from '../../src/platform/core/chains.ts';
import { isTokenItem } from '../../src/platform/core/seaport.ts';
import { createTestReader } from '../support/chain/reader.ts';
import type { ReceiptsOptions, ReceiptTransaction } from '../support/chain/receipts-endpoint.ts';
import { startReceipts } from '../support/chain/receipts-endpoint.ts';
import type { Sale } from './decoder.ts';

export type FollowedBlocks = ReceiptsOptions & {
  blocks: readonly (readonly ReceiptTransaction[])[];
  /** The followed contracts. */
  contracts: readonly string[];
};

export type ReadByService = {
  /** The sales of the followed contracts. */
  sales: Sale[];
  /** The logs that report sales, of any contract: the hash of the transaction and the index of the log in its receipt. */
  sold: ReadonlySet<string>;
  /** How many logs could not be read, by protocol. */
  unread: ReadonlyMap<string, number>;
};

export async function readByService(
  t: { after(close: () => void): void },
  { blocks, contracts, ...options }: FollowedBlocks,
): Promise<ReadByService> {
  const chain = createChains().get('ethereum');
  if (!chain) throw new Error('ethereum is not a chain');
  const reader = createTestReader({ chain, urls: [await startReceipts(t, blocks, options)] });
  t.after(() => reader.close());
  const followed = new Set(contracts as readonly Address[]);
  const protocols = listProtocolContracts(chain, new Map());
  const sales: Sale[] = [];
  const sold = new Set<string>();
  const firstLogs = toFirstLogs(blocks);
  for (let from = 1; from <= blocks.length;) {
    const read = await reader.events.ofRange(from, blocks.length, { protocols, contracts: [...followed] });
    const events = await completeEvents(reader, { events: read.events, protocols, contracts: followed });
    const entries = events.map((event, seq) => ({ seq, event: event as never }));
    const { fills, matched, transfers } = toLogEffects(entries, new Map([...followed].map((one) => [one, one])));
    for (const [tx, ofTransaction] of Map.groupBy(fills, (fill) => fill.tx)) {
      const { wrappedNative } = chain;
      const found = toSalesOfTransaction(ofTransaction, { matched, transfers: transfers.get(tx) ?? [], wrappedNative });
      for (const { fill, bid, contract, asset, price, seller, buyer } of found) {
        for (const one of bid === null ? [fill] : [fill, bid]) {
          sold.add(`${tx} ${one.logIndex - (firstLogs.get(tx) ?? 0)}`);
        }
        if (!followed.has(contract)) continue;
        const offered = fill.offer.filter(isTokenItem);
        const items = offered.length > 0 ? offered : fill.consideration.filter(isTokenItem);
        const units = items.reduce((sum, item) => (item.token === contract ? sum + item.amount : sum), 0n);
        sales.push({
          tx,
          contract,
          tokenId: asset,
          units: units.toString(),
          price: price.includes(' for tokens of ') ? 'undivided' : price,
          seller,
          buyer,
          marketplace: toMarketplace(bid === null ? [fill] : [fill, bid]),
        });
      }
    }
    from = read.to + 1;
  }
  return { sales, sold, unread: reader.unread.byProtocol() };
}

/** The index in its block of the first log of each transaction. */
function toFirstLogs(blocks: FollowedBlocks['blocks']): Map<string, number> {
  const first = new Map<string, number>();
  for (const receipts of blocks) {
    let logs = 0;
    for (const { hash, logs: ofReceipt } of receipts) {
      first.set(hash, logs);
      logs += ofReceipt.length;
    }
  }
  return first;
}
