// Stores what bidders can pay: their balance of the wrapped native currency, and how much of it the account that transfers it may spend, each with the block
// at which both were read. Primary database. A transaction that writes funds holds a lock on the cursor of their chain.

import type { Address } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';

/** The bidder, and the account that transfers the currency for the bids: Seaport or a conduit. */
export type FundsKey = { account: Address; operator: Address };
export type Funds = { balance: bigint; allowance: bigint };

/** Stores funds that were read at a block. `funds` is null if they may have changed up to this block and could not be read yet. */
export async function upsertFunds(
  tx: Queryable,
  { chain, block }: { chain: string; block: number },
  read: readonly (FundsKey & { funds: Funds | null })[],
): Promise<void> {
  if (read.length === 0) return;
  await tx.query(
    `insert into main.funds as stored (chain, account, operator, block_number, balance, allowance)
     select $1, account, operator, $2, balance, allowance
     from unnest($3::text[], $4::text[], $5::numeric[], $6::numeric[]) as incoming (account, operator, balance, allowance)
     order by account collate "C", operator collate "C"
     on conflict (chain, account, operator, block_number) do update
     set balance = coalesce(excluded.balance, stored.balance), allowance = coalesce(excluded.allowance, stored.allowance)`,
    [
      chain,
      block,
      read.map(({ account }) => account),
      read.map(({ operator }) => operator),
      read.map(({ funds }) => funds?.balance.toString() ?? null),
      read.map(({ funds }) => funds?.allowance.toString() ?? null),
    ],
  );
}
