// Who holds what and who may move it, on followed contracts: sums and last words of the log of chain events. Primary database.
// Each function takes the same transaction in which the log changed.

import type { Queryable } from '../../database/port.ts';
import { ZERO_ADDRESS } from '../../core/evm.ts';

/** A change of what somebody holds; negative when it goes away. */
export type HoldingChange = { collectionId: string; tokenId: string; holder: string; quantity: bigint };

/** Adds changes to the holdings; what comes to nothing is forgotten. The zero address holds nothing. */
export async function updateHoldings(tx: Queryable, changes: readonly HoldingChange[]): Promise<void> {
  const sums = new Map<string, HoldingChange>();
  for (const change of changes) {
    if (change.holder === ZERO_ADDRESS) continue;
    const key = `${change.collectionId} ${change.tokenId} ${change.holder}`;
    sums.set(key, { ...change, quantity: (sums.get(key)?.quantity ?? 0n) + change.quantity });
  }
  const rows = [...sums].filter(([, { quantity }]) => quantity !== 0n).sort(([a], [b]) => (a < b ? -1 : 1));
  if (rows.length === 0) return;
  await tx.query(
    `with changed as (
       insert into main.holding as stored (collection_id, token_id, holder, quantity)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::numeric[])
       on conflict (collection_id, token_id, holder) do update set quantity = stored.quantity + excluded.quantity
       returning collection_id, token_id, holder, quantity)
     select from changed`,
    columnsOf(rows.map(([, row]) => row)),
  );
  await tx.query(
    `delete from main.holding as stored using unnest($1::text[], $2::text[], $3::text[]) as told (collection_id, token_id, holder)
     where stored.collection_id = told.collection_id and stored.token_id = told.token_id
       and stored.holder = told.holder and stored.quantity = 0`,
    columnsOf(rows.map(([, row]) => row)).slice(0, 3),
  );
}

function columnsOf(rows: readonly HoldingChange[]): unknown[] {
  return [
    rows.map((row) => row.collectionId),
    rows.map((row) => row.tokenId),
    rows.map((row) => row.holder),
    rows.map((row) => row.quantity.toString()),
  ];
}

/** What the log says of a token: its holder if it has exactly one, whether all of it was burned, whether it exists at all. */
export type TokenHolder = { owner: string | null; burned: boolean; minted: boolean };

/** The holders of the given tokens of a followed contract. */
export async function listTokenHolders(
  db: Queryable,
  { collectionId, chain, contract }: { collectionId: string; chain: string; contract: string },
  tokenIds: readonly string[],
): Promise<Map<string, TokenHolder>> {
  const rows = await db.query<{ token_id: string; holders: number; owner: string | null; minted: boolean }>(
    `select wanted.token_id, held.holders, held.owner, held.holders > 0 or exists (
         select from main.chain_event where chain = $3 and contract = $4 and chain_event.token_id = wanted.token_id
           and kind in ('transfer', 'token-approval')) as minted
     from unnest($2::text[]) as wanted (token_id)
     cross join lateral (select count(*)::int as holders, min(holder) as owner from main.holding
       where collection_id = $1 and holding.token_id = wanted.token_id and quantity > 0) as held`,
    [collectionId, tokenIds, chain, contract],
  );
  return new Map(
    rows.map(({ token_id: id, holders, owner, minted }) => [
      id,
      { owner: holders === 1 ? owner : null, burned: minted && holders === 0, minted },
    ]),
  );
}

/** Tokens that somebody holds, and how many accounts hold any. */
export async function countHoldings(db: Queryable, collectionId: string): Promise<{ supply: number; owners: number }> {
  const [row] = await db.query<{ supply: string; owners: string }>(
    `select count(distinct token_id) as supply, count(distinct holder) as owners
     from main.holding where collection_id = $1 and quantity > 0`,
    [collectionId],
  );
  return { supply: Number(row?.supply ?? 0), owners: Number(row?.owners ?? 0) };
}

/** Forgets what is known of holders and approvals of a collection. */
export async function deleteHoldings(tx: Queryable, collectionId: string): Promise<void> {
  await tx.query(`delete from main.holding where collection_id = $1`, [collectionId]);
  await tx.query(`delete from main.operator_approval where collection_id = $1`, [collectionId]);
  await tx.query(`delete from main.token_approval where collection_id = $1`, [collectionId]);
}
