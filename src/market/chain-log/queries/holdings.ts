// Stores how many units of each token an account holds: the sum of the account's transfers of the token in the chain log. Primary database.
// Holdings are changed in the transaction that changes the chain log.

import type { Address } from '../../../platform/core/address.ts';
import { toCollectionId } from '../../../platform/core/collection.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import type { RowColumns } from '../../../platform/database/row-source.ts';
import { toRowSource, toStatementBatches, toTextArray } from '../../../platform/database/row-source.ts';
import { column, integer, nullable, rowDecoder, safeInteger, text } from '../../../platform/database/rows.ts';

/** A change of the units that an account holds. `quantity` is negative for units that the account transfers. */
export type HoldingChange = { collectionId: string; tokenId: string; holder: string; quantity: bigint };

/** Adds the changes to the stored holdings. Holdings that become zero are deleted. Changes of the zero address are ignored. */
export async function updateHoldings(tx: Queryable, changes: readonly HoldingChange[]): Promise<void> {
  for (const batch of toStatementBatches(sumByKey(changes))) await addToHoldings(tx, batch);
}

async function addToHoldings(tx: Queryable, rows: readonly HoldingChange[]): Promise<void> {
  const source = toRowSource(rows, HOLDING_COLUMNS);
  const emptied = await tx.query(
    `with incoming as (select * from ${source.sql}), changed as (
       insert into main.holding as stored (collection_id, token_id, holder, quantity)
       select collection_id, token_id, holder, quantity from incoming
       on conflict (collection_id, token_id, holder) do update set quantity = stored.quantity + excluded.quantity
       returning collection_id, token_id, holder, quantity)
     select collection_id, token_id, holder from changed where quantity = 0`,
    source.params,
  );
  if (emptied.length === 0) return;
  const keys = emptied.map(decodeKey);
  // The statement does not compare quantities. This transaction has locked the rows, so they are still zero. The planner would expect that
  // almost no row is zero, and would compare each zero row with all keys.
  await tx.query(
    `delete from main.holding as stored using unnest($1::text[], $2::text[], $3::text[]) as changed (collection_id, token_id, holder)
     where stored.collection_id = changed.collection_id and stored.token_id = changed.token_id and stored.holder = changed.holder`,
    [
      toTextArray(keys.map((key) => key.collectionId)),
      toTextArray(keys.map((key) => key.tokenId)),
      toTextArray(keys.map((key) => key.holder)),
    ],
  );
}

const HOLDING_COLUMNS: RowColumns<HoldingChange> = {
  collection_id: { text: (change) => change.collectionId },
  token_id: { text: (change) => change.tokenId },
  holder: { text: (change) => change.holder },
  quantity: { numeric: (change) => change.quantity },
};

const decodeKey = rowDecoder('holding', {
  collectionId: column('collection_id', text),
  tokenId: column('token_id', text),
  holder: text,
});

/** Adds up the changes of each key and leaves out sums of zero. The result is sorted by key, so that two writers cannot deadlock. */
function sumByKey(changes: readonly HoldingChange[]): HoldingChange[] {
  const sums = new Map<string, HoldingChange>();
  for (const change of changes) {
    if (change.holder === ZERO_ADDRESS) continue;
    const key = `${change.collectionId} ${change.tokenId} ${change.holder}`;
    sums.set(key, { ...change, quantity: (sums.get(key)?.quantity ?? 0n) + change.quantity });
  }
  return [...sums]
    .filter(([, { quantity }]) => quantity !== 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, change]) => change);
}

/**
 * `owner`: the holder; null unless exactly one account holds the token. `minted`: the chain log has events of the token. `burned`: the
 * token was minted, and no account holds it. `block`: the block of the token's last event in the chain log; null without such an event.
 */
export type Ownership = { owner: string | null; burned: boolean; minted: boolean; block: number | null };

const decodeHolders = rowDecoder('token holders', {
  tokenId: column('token_id', text),
  holders: integer,
  owner: nullable(text),
  block: nullable(safeInteger),
});

/** The ownership of each given token of a followed contract, by token id. */
export async function listOwnership(
  db: Queryable,
  { collectionId, chain, contract }: { collectionId: string; chain: string; contract: string },
  tokenIds: readonly string[],
): Promise<Map<string, Ownership>> {
  const rows = await db.query(
    `select requested.token_id, held.holders, held.owner, (
         select block_number from main.chain_event
         where chain = $3 and contract = $4 and chain_event.token_id = requested.token_id and kind in ('transfer', 'token-approval')
         order by block_number desc, log_index desc, part desc limit 1) as block
     from unnest($2::text[]) as requested (token_id)
     cross join lateral (select count(*)::int as holders, min(holder) as owner from main.holding
       where collection_id = $1 and holding.token_id = requested.token_id and quantity > 0) as held`,
    [collectionId, toTextArray(tokenIds), chain, contract],
  );
  return new Map(
    rows.map(decodeHolders).map(({ tokenId, holders, owner, block }) => {
      const minted = holders > 0 || block !== null;
      return [tokenId, { owner: holders === 1 ? owner : null, burned: minted && holders === 0, minted, block }];
    }),
  );
}

const decodeAccount = rowDecoder('former holder', { account: text });

/** Returns each account in `accounts` that holds a token of one of the contracts, or that has sent such a token. */
export async function listFormerHolders(
  db: Queryable,
  chain: string,
  { contracts, accounts }: { contracts: readonly Address[]; accounts: readonly string[] },
): Promise<Set<string>> {
  if (contracts.length === 0 || accounts.length === 0) return new Set();
  const rows = await db.query(
    `select account from unnest($2::text[]) as given (account)
     where exists (select from main.holding where holder = given.account and collection_id = any($4))
       or exists (select from main.chain_event as event
         where event.chain = $1 and event.account = given.account and event.contract = any($3) and kind = 'transfer')`,
    [chain, accounts, contracts, contracts.map((contract) => toCollectionId(chain, contract))],
  );
  return new Set(rows.map((row) => decodeAccount(row).account));
}

const decodeTokensOfHolder = rowDecoder('holding', { holder: text, tokens: safeInteger });

/**
 * How many different tokens of a collection each of `accounts` holds; 0 for an account that holds none. If `accounts` is null, the result
 * has all accounts that hold a token.
 */
export async function listTokensOfHolders(
  db: Queryable,
  collectionId: string,
  accounts: readonly string[] | null,
): Promise<{ holder: string; tokens: number }[]> {
  const rows =
    accounts === null
      ? await db.query(
          `select holder, count(*) as tokens from main.holding where collection_id = $1 and quantity > 0 group by holder`,
          [collectionId],
        )
      : await db.query(
          `select holder, (select count(*) from main.holding
             where holding.collection_id = $1 and holding.holder = given.holder and quantity > 0) as tokens
           from unnest($2::text[]) as given (holder)`,
          [collectionId, toTextArray(accounts)],
        );
  return rows.map(decodeTokensOfHolder);
}

export async function deleteHoldings(tx: Queryable, collectionId: string): Promise<void> {
  await tx.query(`delete from main.holding where collection_id = $1`, [collectionId]);
  await tx.query(`delete from main.operator_approval where collection_id = $1`, [collectionId]);
  await tx.query(`delete from main.token_approval where collection_id = $1`, [collectionId]);
}
