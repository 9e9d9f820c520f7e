// Approvals and counters: the last word of the log of chain events on each. Primary database. Going forward the last word is
// in the step itself; after a reorganisation it is looked up in what is left of the log.

import type { Queryable } from '../../database/port.ts';

export type OperatorApprovalState = { collectionId: string; contract: string; owner: string; operator: string };
export type TokenApprovalState = { collectionId: string; contract: string; tokenId: string };
export type CounterKey = { protocol: string; offerer: string };

/** Sets what was said last about each operator. */
export async function updateOperatorApprovals(
  tx: Queryable,
  words: readonly (OperatorApprovalState & { approved: boolean })[],
): Promise<void> {
  const keys = (approved: boolean) => {
    const chosen = words.filter((word) => word.approved === approved);
    return [chosen.map((w) => w.collectionId), chosen.map((w) => w.owner), chosen.map((w) => w.operator)];
  };
  await tx.query(
    `insert into main.operator_approval (collection_id, owner, operator)
     select * from unnest($1::text[], $2::text[], $3::text[]) order by 1, 2, 3 on conflict do nothing`,
    keys(true),
  );
  await tx.query(
    `delete from main.operator_approval as stored using unnest($1::text[], $2::text[], $3::text[]) as told (collection_id, owner, operator)
     where stored.collection_id = told.collection_id and stored.owner = told.owner and stored.operator = told.operator`,
    keys(false),
  );
}

/** Sets what was said last about each token; null where the approval was taken back or the token moved. */
export async function updateTokenApprovals(
  tx: Queryable,
  words: readonly (TokenApprovalState & { operator: string | null })[],
): Promise<void> {
  const approved = words.filter((word) => word.operator !== null);
  await tx.query(
    `delete from main.token_approval as stored using unnest($1::text[], $2::text[]) as told (collection_id, token_id)
     where stored.collection_id = told.collection_id and stored.token_id = told.token_id`,
    [words.map((word) => word.collectionId), words.map((word) => word.tokenId)],
  );
  await tx.query(
    `insert into main.token_approval (collection_id, token_id, operator)
     select * from unnest($1::text[], $2::text[], $3::text[]) order by 1, 2`,
    [approved.map((w) => w.collectionId), approved.map((w) => w.tokenId), approved.map((w) => w.operator)],
  );
}

/** What the log says last about each operator of each owner. */
export async function listOperatorApprovalStates(
  tx: Queryable,
  chain: string,
  words: readonly OperatorApprovalState[],
): Promise<(OperatorApprovalState & { approved: boolean })[]> {
  const rows = await tx.query<{ approved: boolean | null }>(
    `select (select (details ->> 'approved')::boolean from main.chain_event
       where chain = $1 and contract = told.contract and account = told.owner and kind = 'approval-for-all'
         and details ->> 'operator' = told.operator
       order by block_number desc, log_index desc limit 1) as approved
     from unnest($2::text[], $3::text[], $4::text[]) with ordinality as told (contract, owner, operator, place) order by place`,
    [chain, words.map((word) => word.contract), words.map((word) => word.owner), words.map((word) => word.operator)],
  );
  return words.map((word, index) => ({ ...word, approved: rows[index]?.approved ?? false }));
}

/** What the log says last about each token: an approval, or a transfer that ended it. */
export async function listTokenApprovalStates(
  tx: Queryable,
  chain: string,
  words: readonly TokenApprovalState[],
): Promise<(TokenApprovalState & { operator: string | null })[]> {
  const rows = await tx.query<{ operator: string | null }>(
    `select (select case kind when 'token-approval' then details ->> 'operator' end from main.chain_event
       where chain = $1 and contract = told.contract and token_id = told.token_id and kind in ('transfer', 'token-approval')
       order by block_number desc, log_index desc, part desc limit 1) as operator
     from unnest($2::text[], $3::text[]) with ordinality as told (contract, token_id, place) order by place`,
    [chain, words.map((word) => word.contract), words.map((word) => word.tokenId)],
  );
  return words.map((word, index) => ({ ...word, operator: rows[index]?.operator ?? null }));
}

/** Counts each offerer's counter anew from the log. */
export async function updateCounters(tx: Queryable, chain: string, keys: readonly CounterKey[]): Promise<void> {
  if (keys.length === 0) return;
  const params = [chain, keys.map((key) => key.protocol), keys.map((key) => key.offerer)];
  await tx.query(
    `delete from main.offerer_counter as stored using unnest($2::text[], $3::text[]) as told (protocol, offerer)
     where stored.chain = $1 and stored.protocol = told.protocol and stored.offerer = told.offerer`,
    params,
  );
  await tx.query(
    `insert into main.offerer_counter (chain, protocol, offerer, counter)
     select $1, told.protocol, told.offerer, max((details ->> 'counter')::numeric)
     from (select distinct * from unnest($2::text[], $3::text[])) as told (protocol, offerer)
     join main.chain_event on chain_event.chain = $1 and contract = told.protocol and account = told.offerer
       and kind = 'counter-incremented'
     group by told.protocol, told.offerer`,
    params,
  );
}
