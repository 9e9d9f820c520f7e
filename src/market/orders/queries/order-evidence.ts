// Reads the evidence from which the status of a signed order is derived, and finds the orders that a change of evidence affects. Primary
// database. The evidence of an order consists of its events in the chain log, what its offerer can give (the holding of the token and the approvals, or
// the funds of a bidder), and the off-chain cancel.

import type { EvidenceChanges } from '../../chain-log/evidence-changes.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { isPartialOrder, ITEM_TYPE } from '../../../platform/core/seaport.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { toTextArray } from '../../../platform/database/row-source.ts';
import {
  amount,
  boolean,
  column,
  integer,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { OrderSide } from '../order-id.ts';
import { LISTING_STATUSES, ORDER_SIDES } from '../order-id.ts';
import type { OrderEvidence, OrderState, OrderTerms } from '../status.ts';
import { DORMANT_REASONS, toRequiredBalance } from '../status.ts';

export type OrderWithEvidence = {
  orderId: string;
  side: OrderSide;
  collectionId: string;
  /** Null for a bid that several tokens meet. */
  asset: string | null;
  terms: OrderTerms;
  evidence: OrderEvidence;
  stored: OrderState;
};

/** The ids of the signed orders whose evidence may have changed. */
export async function listAffectedOrderIds(tx: Queryable, changes: EvidenceChanges): Promise<string[]> {
  const rows = await tx.query(
    `select id from main.book_order where chain = $1 and order_hash = any($2)
     union
     select id from main.book_order join unnest($3::text[], $4::text[]) as moved (collection_id, token_id)
       on book_order.collection_id = moved.collection_id and book_order.token_id = moved.token_id
       where side = 'ask' and order_hash is not null
     union
     select id from main.book_order join unnest($3::text[], $4::text[]) as moved (collection_id, token_id)
       on book_order.collection_id = moved.collection_id and book_order.token_id = moved.token_id
       where side = 'bid' and order_hash is not null
     union
     select id from main.book_order join unnest($5::text[], $6::text[]) as owned (collection_id, owner)
       on book_order.collection_id = owned.collection_id and book_order.seller = owned.owner
       where side = 'ask' and chain = $1 and order_hash is not null
     union
     select id from main.book_order where chain = $1 and seller = any($7) and order_hash is not null
     order by id`,
    [
      changes.chain,
      toTextArray([...changes.orderHashes]),
      toTextArray(changes.tokens.map((token) => token.collectionId)),
      toTextArray(changes.tokens.map((token) => token.tokenId)),
      changes.owners.map((owner) => owner.collectionId),
      changes.owners.map((owner) => owner.owner),
      [...changes.offerers],
    ],
  );
  return rows.map((row) => decodeId(row).id);
}

export async function listSignedOrderIds(tx: Queryable, collectionId: string): Promise<string[]> {
  const rows = await tx.query(
    `select id from main.book_order where collection_id = $1 and order_hash is not null order by id`,
    [collectionId],
  );
  return rows.map((row) => decodeId(row).id);
}

const decodeId = rowDecoder('book_order', { id: text });

/** Null when no signed order has this id. */
export async function findOrderWithEvidence(db: Queryable, orderId: string): Promise<OrderWithEvidence | null> {
  return (await listOrdersWithEvidence(db, [orderId]))[0] ?? null;
}

/**
 * The fields by which the evidence of an order is found. If a field is null, a part of the evidence is missing. Without `orderHash`, no fill
 * and no cancel by hash is found. Without `protocolAddress` or `counter`, no counter raise is found, and no `nonce-cancelled` event whose
 * nonce is the counter. Without `operator`, the approval is unknown.
 */
export type EvidenceKey = {
  collectionId: string;
  chain: string;
  asset: string;
  seller: string;
  orderHash: string | null;
  /** The deployment of Seaport. Null: a fill or cancel with this `orderHash` is found whichever deployment has logged it. */
  protocolAddress: string | null;
  counter: bigint | null;
  operator: string | null;
};

/** The time of an event in milliseconds, and its transaction, as arguments of `json_build_object` for an `Occurrence`. */
const OCCURRENCE = `'at', (extract(epoch from block_time) * 1000)::bigint, 'tx', event.tx`;

/**
 * Selects the evidence of one order. `stored` is a row with the fields of `EvidenceKey`, named like the columns of main.book_order. Units that
 * an account has received before the first block that was read are not in its holding, so the holding may be below zero. Of an ERC-721
 * token, the account has then transferred its only unit. Of an ERC-1155 token, its balance is not known.
 */
const EVIDENCE_COLUMNS = `fills.fills, cancel.cancel, raise.raise,
  case when follow.joined and (held.quantity is null or held.quantity >= 0 or follow.standard is distinct from 'erc1155')
    then greatest(coalesce(held.quantity, 0), 0) end as balance,
  case when follow.joined and stored.operator is not null then exists (select from main.operator_approval as approval
      where approval.collection_id = stored.collection_id and owner = stored.seller
        and approval.operator = stored.operator)
    or exists (select from main.token_approval as approval
      where approval.collection_id = stored.collection_id and approval.token_id = stored.token_id
        and approval.operator = stored.operator) end as approved`;

const evidenceJoins = (units: string) => `left join main.follow on follow.collection_id = stored.collection_id
  left join main.holding as held on held.collection_id = stored.collection_id and held.token_id = stored.token_id
    and held.holder = stored.seller
  cross join lateral (
    select coalesce(json_agg(json_build_object(${OCCURRENCE},
      'quantity', ${units}) order by block_number, log_index), '[]') as fills
    from main.chain_event as event where event.chain = stored.chain and event.order_hash = stored.order_hash
      and kind = 'order-fulfilled' and (stored.protocol_address is null or contract = stored.protocol_address)) as fills
  left join lateral (
    select json_build_object(${OCCURRENCE}) as cancel from (
      select block_time, tx, block_number, log_index from main.chain_event
      where chain = stored.chain and order_hash = stored.order_hash and kind = 'order-cancelled'
        and account = stored.seller
        and (stored.protocol_address is null or contract = stored.protocol_address)
      union all
      select block_time, tx, block_number, log_index from main.chain_event
      where chain = stored.chain and contract = stored.protocol_address and account = stored.seller
        and kind = 'nonce-cancelled' and (details ->> 'nonce')::numeric = stored.counter) as event
    order by block_number, log_index limit 1) as cancel on true
  left join lateral (
    select json_build_object(${OCCURRENCE}) as raise from main.chain_event as event
    where event.chain = stored.chain and contract = stored.protocol_address and account = stored.seller
      and kind = 'counter-incremented' and (details ->> 'counter')::numeric > stored.counter
    order by block_number, log_index limit 1) as raise on true`;

/** The units of a fill, as SQL on the row `event`: of an ask, and of an order of the row `stored` of either side. */
const UNITS_OF_ASK = `details -> 'offer' -> 0 ->> 'amount'`;
const UNITS_OF_ORDER = `case stored.side when 'ask' then ${UNITS_OF_ASK} else (
        select sum((item ->> 'amount')::numeric)::text from jsonb_array_elements(details -> 'consideration') as item
        where item ->> 'itemType' in ('${ITEM_TYPE.erc721}', '${ITEM_TYPE.erc1155}')) end`;

/**
 * The evidence that only bids have. A token of the standard ERC-721 is burned if its last transfer was one to the zero address. The newest funds that
 * were read count.
 */
const BID_COLUMNS = `bidder.balance as funds_balance, bidder.allowance as funds_allowance, burned.burn`;
const BID_JOINS = `left join lateral (
    select balance, allowance from main.funds
    where stored.side = 'bid' and funds.chain = stored.chain and account = stored.seller
      and funds.operator = stored.operator and funds.currency = coalesce(stored.currency, '') and balance is not null
    order by block_number desc limit 1) as bidder on true
  left join lateral (
    select case when details ->> 'to' = '${ZERO_ADDRESS}' then json_build_object(${OCCURRENCE}) end as burn from main.chain_event as event
    where stored.side = 'bid' and stored.standard = 'erc721' and follow.joined and event.chain = stored.chain
      and contract = stored.contract_address and event.token_id = stored.token_id and kind = 'transfer'
    order by block_number desc, log_index desc, part desc limit 1) as burned on true`;

const occurrence = { at: safeInteger, tx: text };

const EVIDENCE = {
  fills: list(object({ ...occurrence, quantity: amount })),
  cancel: nullable(object(occurrence)),
  counterRaise: column('raise', nullable(object(occurrence))),
  balance: nullable(amount),
  approved: nullable(boolean),
};

export async function listOrdersWithEvidence(db: Queryable, orderIds: readonly string[]): Promise<OrderWithEvidence[]> {
  const rows = await db.query(
    `select stored.id, stored.side, stored.collection_id, stored.token_id, stored.price_raw, stored.counter, stored.quantity, stored.order_type,
       stored.expires_at, stored.status, stored.dormant, stored.filled_quantity, stored.ended_at, stored.tx,
       off_chain.created_at as off_chain_cancelled_at, ${EVIDENCE_COLUMNS}, ${BID_COLUMNS}
     from main.book_order as stored ${evidenceJoins(UNITS_OF_ORDER)} ${BID_JOINS}
     left join main.order_cancel as off_chain on off_chain.order_id = stored.id
     where stored.id = any($1) and stored.order_hash is not null
     order by stored.id`,
    [orderIds],
  );
  return rows.map((row) => toOrderWithEvidence(decodeOrder(row)));
}

const decodeOrder = rowDecoder('book_order with evidence', {
  orderId: column('id', text),
  side: oneOf(ORDER_SIDES),
  collectionId: column('collection_id', text),
  asset: column('token_id', nullable(text)),
  priceRaw: column('price_raw', amount),
  counter: amount,
  quantity: amount,
  orderType: column('order_type', integer),
  expiresAt: column('expires_at', nullable(timestamp)),
  status: oneOf(LISTING_STATUSES),
  dormant: nullable(oneOf(DORMANT_REASONS)),
  filledQuantity: column('filled_quantity', amount),
  endedAt: column('ended_at', nullable(timestamp)),
  tx: nullable(text),
  offChainCancelledAt: column('off_chain_cancelled_at', nullable(timestamp)),
  ...EVIDENCE,
  fundsBalance: column('funds_balance', nullable(amount)),
  fundsAllowance: column('funds_allowance', nullable(amount)),
  burn: nullable(object(occurrence)),
});

function toOrderWithEvidence(row: ReturnType<typeof decodeOrder>): OrderWithEvidence {
  const { orderId, side, collectionId, asset, priceRaw, counter, quantity, orderType, expiresAt } = row;
  const { status, dormant, filledQuantity, endedAt, tx } = row;
  const { fills, cancel, counterRaise, offChainCancelledAt, burn } = row;
  const offChainCancel = offChainCancelledAt === null ? null : { at: offChainCancelledAt, tx: null };
  const perUnit = side === 'ask' ? 1n : priceRaw;
  const terms = { counter, quantity, partial: isPartialOrder(orderType), perUnit, expiresAt };
  return {
    orderId,
    side,
    collectionId,
    asset,
    terms,
    evidence: { fills, cancel, counterRaise, offChainCancel, burn, ...toAbility(row, toRequiredBalance(terms)) },
    stored: { status, dormant, filledQuantity, endedAt, tx },
  };
}

/** Whether the offerer can give what the order offers. `required`: what a fill needs. */
function toAbility(
  { side, balance, approved, fundsBalance, fundsAllowance }: ReturnType<typeof decodeOrder>,
  required: bigint,
): Pick<OrderEvidence, 'balance' | 'approved'> {
  if (side === 'ask') return { balance, approved };
  return { balance: fundsBalance, approved: fundsAllowance === null ? null : fundsAllowance >= required };
}

const decodeEvidence = rowDecoder('evidence', EVIDENCE);

/** The evidence of asks that are not in main.book_order, in the order of the keys. These orders have no off-chain cancel. */
export async function listEvidence(db: Queryable, keys: readonly EvidenceKey[]): Promise<OrderEvidence[]> {
  if (keys.length === 0) return [];
  const rows = await db.query(
    `select ${EVIDENCE_COLUMNS}
     from json_to_recordset($1::json) as stored (position integer, collection_id text, chain text, token_id text, seller text,
       order_hash text, protocol_address text, counter numeric, operator text) ${evidenceJoins(UNITS_OF_ASK)}
     order by position`,
    [JSON.stringify(keys.map(toEvidenceColumns))],
  );
  return rows.map((row) => ({ ...decodeEvidence(row), offChainCancel: null, burn: null }));
}

function toEvidenceColumns(key: EvidenceKey, position: number): Record<string, unknown> {
  return {
    position,
    collection_id: key.collectionId,
    chain: key.chain,
    token_id: key.asset,
    seller: key.seller,
    order_hash: key.orderHash,
    protocol_address: key.protocolAddress,
    counter: key.counter?.toString() ?? null,
    operator: key.operator,
  };
}

/** The counter of an offerer according to the chain log. Null when the log has no counter raise of the offerer. */
export async function findOffererCounter(
  db: Queryable,
  key: { chain: string; protocol: string; offerer: string },
): Promise<bigint | null> {
  const [row] = await db.query(
    `select counter from main.offerer_counter where chain = $1 and protocol = $2 and offerer = $3`,
    [key.chain, key.protocol, key.offerer],
  );
  return row ? decodeCounter(row).counter : null;
}

const decodeCounter = rowDecoder('offerer_counter', { counter: amount });
