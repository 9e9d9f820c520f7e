// Follows what bidders can pay. The logs of the currencies of their bids tell whose funds may have changed in a block; the funds themselves are read by calls at
// this block, because not every change of a balance or an allowance is in the logs. Funds that cannot be read yet stay marked, and are read later.

import type { ChainEvent } from '../../market/chain-log/chain-event.ts';
import { findChainCursor } from '../../market/chain-log/queries/chain-cursors.ts';
import { evaluateBidsOf } from '../../market/orders/evaluate.ts';
import type { OrderChange } from '../../market/orders/queries/order-states.ts';
import type { FundsKey, ReadFunds } from '../../market/orders/queries/funds.ts';
import {
  listFundedAccounts,
  listFundsOf,
  listFundsReadAt,
  listUnreadFunds,
  upsertFunds,
} from '../../market/orders/queries/funds.ts';
import type { Address } from '../../platform/core/address.ts';
import type { Chain } from '../../platform/core/chains.ts';
import type { Hex } from '../../platform/core/evm.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { ChainReader } from './rpc/chain-reader.ts';
import type { FollowedFunds } from './rpc/log-query.ts';
import type { RpcFailureKind } from './rpc/rpc-failure.ts';
import { RpcFailure } from './rpc/rpc-failure.ts';

type FundsContext = { main: Database; reader: ChainReader; clock: Clock; log: Log };

type Block = { number: number; hash: Hex };

/** The most keys whose funds one step reads. The others stay marked. */
const KEYS_MAX = 500;
/** The most keys in one batch of calls. */
const BATCH_SIZE = 50;
/** The reasons for which a batch cannot be read at this block, although the chain can be read. */
const UNREADABLE: ReadonlySet<RpcFailureKind> = new Set(['call-failed', 'call-disputed', 'contradicted', 'no-state']);

/** The accounts whose funds are followed; null if there are none. */
export async function readFollowedFunds({ main, reader: { chain } }: FundsContext): Promise<FollowedFunds | null> {
  const followed = new Map<Address, Set<Address>>();
  for (const { account, currency } of await listFundedAccounts(main, chain.id)) {
    const contract = toContract(chain, currency);
    if (contract !== null) followed.set(contract, (followed.get(contract) ?? new Set()).add(account));
  }
  return followed.size === 0 ? null : followed;
}

/** Null if the currency is the wrapped native one, whose contract is not known on this chain. */
function toContract({ wrappedNative }: Chain, currency: Address | null): Address | null {
  return currency ?? wrappedNative;
}

export function listMovedAccounts(events: readonly ChainEvent[]): Address[] {
  return [...new Set(events.flatMap((event) => (event.kind === 'funds-moved' ? event.accounts : [])))];
}

/** The funds of these accounts, all as still to be read. */
export async function markFunds({ main, reader }: FundsContext, accounts: readonly Address[]): Promise<ReadFunds[]> {
  return (await listFundsOf(main, reader.chain.id, accounts)).map(toUnread);
}

/** Reads the funds of these accounts, and those that are marked, at a block. Funds that cannot be read at this block are null. */
export async function readFunds(
  context: FundsContext,
  block: Block,
  accounts: readonly Address[],
): Promise<ReadFunds[]> {
  const { main, reader, log } = context;
  const { id: chain } = reader.chain;
  const moved = await listFundsOf(main, chain, accounts);
  const isMoved = new Set(moved.map(toText));
  const marked = (await listUnreadFunds(main, chain, KEYS_MAX)).filter((key) => !isMoved.has(toText(key)));
  const keys = [...moved, ...marked].slice(0, KEYS_MAX);
  const read: ReadFunds[] = [];
  for (const [currency, ofCurrency] of Map.groupBy(keys, (key) => toContract(reader.chain, key.currency))) {
    if (currency === null) continue;
    for (let start = 0; start < ofCurrency.length; start += BATCH_SIZE) {
      const batch = ofCurrency.slice(start, start + BATCH_SIZE);
      read.push(...(await readBatch(context, { currency, batch, block: block.number })));
    }
  }
  // A call names its block by number. Meanwhile, an endpoint may have replaced the block.
  const isSame = read.length === 0 || (await reader.blocks.header(block.number))?.hash === block.hash;
  const result = isSame ? read : read.map(toUnread);
  const unread = result.filter((key) => key.funds === null && isMoved.has(toText(key))).length;
  if (unread > 0) log.warn('the funds of bidders cannot be read yet', { chain, block: block.number, unread });
  return [...result, ...moved.slice(KEYS_MAX).map(toUnread)];
}

async function readBatch(
  { reader }: FundsContext,
  { currency, batch, block }: { currency: Address; batch: readonly FundsKey[]; block: number },
): Promise<ReadFunds[]> {
  try {
    const funds = await reader.contracts.funds(currency, batch, block);
    return batch.map((key, index) => ({ ...key, funds: funds[index] ?? null }));
  } catch (error) {
    if (error instanceof RpcFailure && UNREADABLE.has(error.kind)) return batch.map(toUnread);
    throw error;
  }
}

/**
 * Stores funds that were read at block `block`, in the transaction that moves the cursor from the block `from`. A bid that was submitted after `followed`
 * was read has funds of the block `from`, and its account may have moved them since: these funds are marked. Returns the accounts whose funds were read.
 */
export async function storeFunds(
  tx: Queryable,
  chain: Chain,
  {
    from,
    block,
    read,
    followed,
  }: { from: number; block: number; read: readonly ReadFunds[]; followed: FollowedFunds | null },
): Promise<Address[]> {
  const isRead = new Set(read.map(toText));
  const isFollowed = ({ account, currency }: FundsKey) => {
    const contract = toContract(chain, currency);
    return contract !== null && (followed?.get(contract)?.has(account) ?? false);
  };
  const added = (await listFundsReadAt(tx, { chain: chain.id, block: from })).filter(
    (key) => !isFollowed(key) && !isRead.has(toText(key)),
  );
  await upsertFunds(tx, { chain: chain.id, block }, [...read, ...added.map(toUnread)]);
  return read.flatMap(({ account, funds }) => (funds === null ? [] : [account]));
}

/** Reads the funds that are marked while no new block arrives. Returns the orders whose state changed, or null if no funds are marked. */
export async function readMarkedFunds(context: FundsContext, block: Block): Promise<OrderChange[] | null> {
  const { main, reader, clock } = context;
  const chain = reader.chain.id;
  const read = (await readFunds(context, block, [])).filter(({ funds }) => funds !== null);
  if (read.length === 0) return null;
  return main.transaction(async (tx) => {
    if ((await findChainCursor(tx, chain, 'for update'))?.hash !== block.hash) return [];
    await upsertFunds(tx, { chain, block: block.number }, read);
    return evaluateBidsOf(
      tx,
      chain,
      read.map(({ account }) => account),
      clock(),
    );
  });
}

function toUnread({ account, operator, currency }: FundsKey): ReadFunds {
  return { account, operator, currency, funds: null };
}

function toText({ account, operator, currency }: FundsKey): string {
  return `${account} ${operator} ${currency ?? ''}`;
}
