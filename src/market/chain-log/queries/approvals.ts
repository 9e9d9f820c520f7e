// Stores the current approvals and counters that follow from the chain log. Primary database. Approvals are set from the events of new
// blocks; after a reorganisation they are read from the remaining chain log. Counters are always read from the chain log.

import type { Queryable } from '../../../platform/database/port.ts';
import { toTextArray } from '../../../platform/database/row-source.ts';
import { boolean, nullable, rowDecoder, text } from '../../../platform/database/rows.ts';

type OperatorKey = { collectionId: string; contract: string; owner: string; operator: string };
export type OperatorApproval = OperatorKey & { approved: boolean };

type TokenKey = { collectionId: string; contract: string; tokenId: string };
/** The account approved for one token; `operator` is null when no account is approved. */
export type TokenApprovalState = TokenKey & { operator: string | null };

type CounterKey = { protocol: string; offerer: string };

export async function updateOperatorApprovals(tx: Queryable, approvals: readonly OperatorApproval[]): Promise<void> {
  const keysOf = (approved: boolean) => {
    const chosen = approvals.filter((approval) => approval.approved === approved);
    return [
      chosen.map((approval) => approval.collectionId),
      chosen.map((approval) => approval.owner),
      chosen.map((approval) => approval.operator),
    ];
  };
  await tx.query(
    `insert into main.operator_approval (collection_id, owner, operator)
     select * from unnest($1::text[], $2::text[], $3::text[]) order by 1, 2, 3 on conflict do nothing`,
    keysOf(true),
  );
  await tx.query(
    `delete from main.operator_approval as stored
     using unnest($1::text[], $2::text[], $3::text[]) as revoked (collection_id, owner, operator)
     where stored.collection_id = revoked.collection_id and stored.owner = revoked.owner and stored.operator = revoked.operator`,
    keysOf(false),
  );
}

export async function updateTokenApprovals(tx: Queryable, approvals: readonly TokenApprovalState[]): Promise<void> {
  const approved = approvals.filter((approval) => approval.operator !== null);
  await tx.query(
    `delete from main.token_approval as stored using unnest($1::text[], $2::text[]) as changed (collection_id, token_id)
     where stored.collection_id = changed.collection_id and stored.token_id = changed.token_id`,
    [
      toTextArray(approvals.map((approval) => approval.collectionId)),
      toTextArray(approvals.map((approval) => approval.tokenId)),
    ],
  );
  if (approved.length === 0) return;
  await tx.query(
    `insert into main.token_approval (collection_id, token_id, operator)
     select * from unnest($1::text[], $2::text[], $3::text[]) order by 1, 2`,
    [
      approved.map((approval) => approval.collectionId),
      approved.map((approval) => approval.tokenId),
      approved.map((approval) => approval.operator),
    ],
  );
}

const decodeApproved = rowDecoder('operator approval', { approved: nullable(boolean) });

/**
 * The current approval of each pair of owner and operator, read from the chain log. `approved` is false when the log has no event of the
 * pair.
 */
export async function listOperatorApprovals(
  tx: Queryable,
  chain: string,
  keys: readonly OperatorKey[],
): Promise<OperatorApproval[]> {
  const rows = await tx.query(
    `select (select (details ->> 'approved')::boolean from main.chain_event
       where chain = $1 and contract = requested.contract and account = requested.owner and kind = 'approval-for-all'
         and details ->> 'operator' = requested.operator
       order by block_number desc, log_index desc limit 1) as approved
     from unnest($2::text[], $3::text[], $4::text[]) with ordinality as requested (contract, owner, operator, ordinal)
     order by ordinal`,
    [chain, keys.map((key) => key.contract), keys.map((key) => key.owner), keys.map((key) => key.operator)],
  );
  const approvals = rows.map(decodeApproved);
  return keys.map((key, index) => ({ ...key, approved: approvals[index]?.approved ?? false }));
}

const decodeOperator = rowDecoder('token approval', { operator: nullable(text) });

/** The account that is approved for each token, read from the chain log. A transfer revokes the approval. */
export async function listTokenApprovals(
  tx: Queryable,
  chain: string,
  keys: readonly TokenKey[],
): Promise<TokenApprovalState[]> {
  const rows = await tx.query(
    `select (select case kind when 'token-approval' then details ->> 'operator' end from main.chain_event
       where chain = $1 and contract = requested.contract and token_id = requested.token_id and kind in ('transfer', 'token-approval')
       order by block_number desc, log_index desc, part desc limit 1) as operator
     from unnest($2::text[], $3::text[]) with ordinality as requested (contract, token_id, ordinal) order by ordinal`,
    [chain, keys.map((key) => key.contract), keys.map((key) => key.tokenId)],
  );
  const approvals = rows.map(decodeOperator);
  return keys.map((key, index) => ({ ...key, operator: approvals[index]?.operator ?? null }));
}

/** Sets the counter of each offerer to the highest value in the chain log. An offerer without a value in the log has no counter. */
export async function updateCounters(tx: Queryable, chain: string, keys: readonly CounterKey[]): Promise<void> {
  if (keys.length === 0) return;
  const params = [chain, keys.map((key) => key.protocol), keys.map((key) => key.offerer)];
  await tx.query(
    `delete from main.offerer_counter as stored using unnest($2::text[], $3::text[]) as changed (protocol, offerer)
     where stored.chain = $1 and stored.protocol = changed.protocol and stored.offerer = changed.offerer`,
    params,
  );
  await tx.query(
    `insert into main.offerer_counter (chain, protocol, offerer, counter)
     select $1, changed.protocol, changed.offerer, max((details ->> 'counter')::numeric)
     from (select distinct * from unnest($2::text[], $3::text[])) as changed (protocol, offerer)
     join main.chain_event on chain_event.chain = $1 and contract = changed.protocol and account = changed.offerer
       and kind = 'counter-incremented'
     group by changed.protocol, changed.offerer`,
    params,
  );
}
