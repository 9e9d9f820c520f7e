// Stores what bidders can pay: their balance of the currency of their bids, and how much of it the account that transfers it may spend, each with the block
// at which both were read. Primary database. A transaction that writes funds holds a lock on the cursor of their chain.

import type { Address } from '../../../platform/core/address.ts';
import type { Queryable, Row } from '../../../platform/database/port.ts';
import { address, nullable, rowDecoder, text } from '../../../platform/database/rows.ts';

/** The bidder, and the account that transfers the currency for the bids: Seaport or a conduit. */
export type Spender = { account: Address; operator: Address };
/** `currency`: its contract; null for the wrapped native currency. */
export type FundsKey = Spender & { currency: Address | null };
export type Funds = { balance: bigint; allowance: bigint };
/** `funds` is null if they may have changed and are still to be read. */
export type ReadFunds = FundsKey & { funds: Funds | null };

type AtBlock = { chain: string; block: number };

const decodeKey: (row: Row) => FundsKey = rowDecoder('funds', {
  account: address,
  operator: address,
  currency: nullable(address),
});

/** SQL for the columns that `decodeKey` reads. A key of a table cannot be null, so the wrapped native currency is stored as an empty text. */
const KEY_COLUMNS = `account, operator, nullif(currency, '') as currency`;

/** Funds are kept for reorganisations of at most this many blocks. Of each key, one older row is kept too. */
const KEPT_BLOCKS = 512;

/** Stores funds that were read at a block, or that are still to be read. Deletes what no reorganisation needs any more. */
export async function upsertFunds(tx: Queryable, { chain, block }: AtBlock, read: readonly ReadFunds[]): Promise<void> {
  if (read.length === 0) return;
  const keys = [
    read.map(({ account }) => account),
    read.map(({ operator }) => operator),
    read.map(({ currency }) => currency ?? ''),
  ];
  await tx.query(
    `insert into main.funds as stored (chain, account, operator, currency, block_number, balance, allowance)
     select $1, account, operator, currency, $2, balance, allowance
     from unnest($3::text[], $4::text[], $5::text[], $6::numeric[], $7::numeric[])
       as incoming (account, operator, currency, balance, allowance)
     order by account collate "C", operator collate "C", currency collate "C"
     on conflict (chain, account, operator, currency, block_number) do update
     set balance = excluded.balance, allowance = excluded.allowance`,
    [
      chain,
      block,
      ...keys,
      read.map(({ funds }) => funds?.balance.toString() ?? null),
      read.map(({ funds }) => funds?.allowance.toString() ?? null),
    ],
  );
  await tx.query(
    `delete from main.funds as stored using unnest($3::text[], $4::text[], $5::text[]) as incoming (account, operator, currency)
     where stored.chain = $1 and stored.account = incoming.account and stored.operator = incoming.operator
       and stored.currency = incoming.currency and (balance is null and block_number < $2 and exists (
           select from main.funds as newer where newer.chain = $1 and newer.account = incoming.account
             and newer.operator = incoming.operator and newer.currency = incoming.currency and newer.block_number = $2 and newer.balance is not null)
         or block_number < (
           select max(block_number) from main.funds as kept where kept.chain = $1 and kept.account = incoming.account
             and kept.operator = incoming.operator and kept.currency = incoming.currency and kept.block_number <= $2 - ${KEPT_BLOCKS} and kept.balance is not null))`,
    [chain, block, ...keys],
  );
}

/** Whether the newest stored funds of the key are others than these, or are still to be read. False if none are stored. */
export async function hasOtherFunds(
  db: Queryable,
  chain: string,
  { account, operator, currency, funds }: FundsKey & { funds: Funds },
): Promise<boolean> {
  const [newest] = await db.query<{ differs: boolean }>(
    `select balance is distinct from $4::numeric or allowance is distinct from $5::numeric as differs from main.funds
     where chain = $1 and account = $2 and operator = $3 and currency = $6 order by block_number desc limit 1`,
    [chain, account, operator, funds.balance.toString(), funds.allowance.toString(), currency ?? ''],
  );
  return newest?.differs ?? false;
}

/** The collections of the open bids of an account. */
export async function listCollectionsOfOpenBids(db: Queryable, chain: string, account: Address): Promise<string[]> {
  const rows = await db.query(
    `select distinct collection_id as id from main.book_order
     where side = 'bid' and seller = $2 and status = 'active' and chain = $1 and order_hash is not null`,
    [chain, account],
  );
  return rows.map((row) => decodeId(row).id);
}

/** The accounts whose funds are followed on the chain, each with each of its currencies. */
export async function listFundedAccounts(db: Queryable, chain: string): Promise<Omit<FundsKey, 'operator'>[]> {
  const rows = await db.query(
    `select distinct account, nullif(currency, '') as currency from main.funds where chain = $1`,
    [chain],
  );
  return rows.map(decodeFunded);
}

const decodeFunded = rowDecoder('funds', { account: address, currency: nullable(address) });

const decodeAccount = rowDecoder('funds', { account: address });

/** The keys of the given accounts. */
export async function listFundsOf(db: Queryable, chain: string, accounts: readonly Address[]): Promise<FundsKey[]> {
  if (accounts.length === 0) return [];
  const rows = await db.query(
    `select distinct ${KEY_COLUMNS} from main.funds where chain = $1 and account = any($2) order by account, operator, currency nulls first`,
    [chain, accounts],
  );
  return rows.map(decodeKey);
}

/** At most `limit` keys whose funds are still to be read. */
export async function listUnreadFunds(db: Queryable, chain: string, limit: number): Promise<FundsKey[]> {
  const rows = await db.query(
    `select distinct ${KEY_COLUMNS} from main.funds where chain = $1 and balance is null order by account, operator, currency nulls first limit $2`,
    [chain, limit],
  );
  return rows.map(decodeKey);
}

/** The keys with funds that were read at the block. */
export async function listFundsReadAt(db: Queryable, { chain, block }: AtBlock): Promise<FundsKey[]> {
  const rows = await db.query(`select ${KEY_COLUMNS} from main.funds where chain = $1 and block_number = $2`, [
    chain,
    block,
  ]);
  return rows.map(decodeKey);
}

/**
 * Deletes the funds that were read after the block. The earlier funds count again, and are read again, because they may have been marked as changed.
 * Returns the accounts.
 */
export async function revertFundsAfter(tx: Queryable, { chain, block }: AtBlock): Promise<Address[]> {
  const rows = await tx.query(
    `with deleted as (delete from main.funds where chain = $1 and block_number > $2 returning account, operator, currency),
     unread as (
       insert into main.funds (chain, account, operator, currency, block_number) select distinct $1, account, operator, currency, $2::bigint from deleted
       on conflict do nothing
     ) select distinct account from deleted order by account`,
    [chain, block],
  );
  return rows.map((row) => decodeAccount(row).account);
}

/** Marks the funds of the open bids of a collection as still to be read, if they are not followed yet. */
export async function insertUnreadFunds(tx: Queryable, collectionId: string, block: number): Promise<void> {
  await tx.query(
    `insert into main.funds (chain, account, operator, currency, block_number)
     select distinct chain, seller, operator, coalesce(currency, ''), $2::bigint from main.book_order as bid
     where collection_id = $1 and side = 'bid' and status = 'active' and order_hash is not null
       and not exists (select from main.funds where funds.chain = bid.chain and account = seller and funds.operator = bid.operator
         and funds.currency = coalesce(bid.currency, ''))
     on conflict do nothing`,
    [collectionId, block],
  );
}

/** Deletes the funds of bidders whose last bid ended before `before`, in milliseconds. */
export async function deleteUnneededFunds(tx: Queryable, chain: string, before: number): Promise<void> {
  await tx.query(
    `delete from main.funds where chain = $1 and not exists (
       select from main.book_order as bid where bid.chain = $1 and seller = funds.account and bid.operator = funds.operator
         and coalesce(bid.currency, '') = funds.currency and side = 'bid' and order_hash is not null and (status = 'active' or ended_at > $2))`,
    [chain, new Date(before)],
  );
}

const decodeId = rowDecoder('book_order', { id: text });

/** The open bids of the accounts. */
export async function listOpenBidIds(db: Queryable, chain: string, accounts: readonly string[]): Promise<string[]> {
  const rows = await db.query(
    `select id from main.book_order
     where side = 'bid' and seller = any($2) and status = 'active' and chain = $1 and order_hash is not null order by id`,
    [chain, accounts],
  );
  return rows.map((row) => decodeId(row).id);
}
