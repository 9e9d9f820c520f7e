// Reads the rows that an audit compares with the chain, from both databases: signed orders with their stored state, and tokens with their
// holders.

import { ZERO_ADDRESS } from '../../../../platform/core/evm.ts';
import type { Queryable } from '../../../../platform/database/port.ts';
import {
  address,
  amount,
  assetId,
  boolean,
  column,
  hex,
  integer,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../../platform/database/rows.ts';
import { LISTING_STATUSES, ORDER_SIDES } from '../../../../market/orders/order-id.ts';

const standard = nullable(oneOf(['erc721', 'erc1155']));

const decodeOrder = rowDecoder('audited order', {
  orderId: column('id', text),
  side: oneOf(ORDER_SIDES),
  contract: column('contract_address', address),
  /** Null for a bid that several tokens meet. */
  tokenId: column('token_id', nullable(assetId)),
  /** The price of one unit. */
  priceRaw: column('price_raw', amount),
  standard,
  seller: address,
  orderHash: column('order_hash', hex),
  protocol: column('protocol_address', address),
  operator: nullable(address),
  /** The currency of a bid; null for the wrapped native currency, and for an ask. */
  currency: nullable(address),
  orderType: column('order_type', integer),
  quantity: amount,
  counter: amount,
  /** In milliseconds, like every time in these rows. */
  expiresAt: column('expires_at', nullable(timestamp)),
  /** The time of an off-chain cancel, which no chain records. */
  offChainCancelAt: column('off_chain_cancel_at', nullable(timestamp)),
  status: oneOf(LISTING_STATUSES),
  dormant: nullable(oneOf(['no-balance', 'not-approved'])),
  filledQuantity: column('filled_quantity', amount),
  endedAt: column('ended_at', nullable(timestamp)),
  /** The stored funds of a bidder. Null while they are still to be read, and for an ask. */
  funds: nullable(amount),
  allowance: nullable(amount),
  /** The stored balance of the seller of an ask. Null until the collection is followed and its backfill is complete. */
  balance: nullable(amount),
  /**
   * Whether the stored approvals allow the operator to transfer the token. Null if `balance` is null. If the operator is not known: false if
   * no approval is stored, otherwise null.
   */
  approved: nullable(boolean),
  /** Null for a seller whose counter was never incremented. */
  storedCounter: column('stored_counter', nullable(amount)),
});

export type AuditedOrder = ReturnType<typeof decodeOrder>;

/** The same seed selects the same rows. */
export type Sample = { seed: string; limit: number };

export async function listOrderSample(db: Queryable, chain: string, { seed, limit }: Sample): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from main.book_order where chain = $1 and order_hash is not null order by md5($2 || id), id limit $3`,
    [chain, seed, limit],
  );
  return rows.map((row) => row.id);
}

export async function listAuditedOrders(db: Queryable, orderIds: readonly string[]): Promise<AuditedOrder[]> {
  const rows = await db.query(
    `select stored.*, cancel.created_at as off_chain_cancel_at, counted.counter as stored_counter,
       funds.balance as funds, funds.allowance,
       case when follow.joined then coalesce((select quantity from main.holding
         where holding.collection_id = stored.collection_id and holding.token_id = stored.token_id
           and holder = stored.seller), 0) end as balance,
       case when follow.joined then (stored.operator in (
           select operator from main.operator_approval as approval
           where approval.collection_id = stored.collection_id and owner = stored.seller
           union all
           select operator from main.token_approval as approval
           where approval.collection_id = stored.collection_id and approval.token_id = stored.token_id)) end as approved
     from (select id, collection_id, chain, contract_address, token_id, standard, seller, order_hash, protocol_address, operator,
         order_type, quantity, counter, expires_at, status, dormant, filled_quantity, ended_at, side, price_raw, currency
       from main.book_order where id = any($1) and order_hash is not null) as stored
     left join main.follow on follow.collection_id = stored.collection_id
     left join main.order_cancel as cancel on cancel.order_id = stored.id
     left join lateral (
       select balance, allowance from main.funds where stored.side = 'bid' and funds.chain = stored.chain
         and account = stored.seller and funds.operator = stored.operator and funds.currency = coalesce(stored.currency, '')
       order by block_number desc limit 1
     ) as funds on true
     left join main.offerer_counter as counted on counted.chain = stored.chain
       and counted.protocol = stored.protocol_address and counted.offerer = stored.seller
     order by stored.id`,
    [orderIds],
  );
  return rows.map(decodeOrder);
}

const decodeTokenKey = rowDecoder('token key', {
  collectionId: column('collection_id', text),
  tokenId: column('token_id', text),
  rank: text,
});

export type TokenKey = { collectionId: string; tokenId: string };

/** A sample of the tokens that the primary database or the indexer has of the given collections. */
export async function listTokenSample(
  { main, indexer }: { main: Queryable; indexer: Queryable },
  collectionIds: readonly string[],
  { seed, limit }: Sample,
): Promise<TokenKey[]> {
  const params = [collectionIds, seed, limit];
  // Both databases rank tokens by the same hash, so the lowest ranks of both results are a sample of all tokens.
  const rankOf = (token: string) => `md5($2 || collection_id || ' ' || ${token}) collate "C"`;
  const held = await main.query(
    `select collection_id, token_id, ${rankOf('token_id')} as rank from main.holding where collection_id = any($1)
     group by collection_id, token_id order by rank, collection_id, token_id limit $3`,
    params,
  );
  const indexed = await indexer.query(
    `select collection_id, asset as token_id, ${rankOf('asset')} as rank from indexer.token where collection_id = any($1)
     order by rank, collection_id, asset limit $3`,
    params,
  );
  const ranked = new Map(
    [...held, ...indexed].map(decodeTokenKey).map((key) => [`${key.collectionId} ${key.tokenId}`, key]),
  );
  return [...ranked.values()].toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, limit);
}

const decodeTokenOfSeveral = rowDecoder('holding', {
  collectionId: column('collection_id', text),
  tokenId: column('token_id', text),
});

/** Tokens of the given ERC-721 collections that several accounts seem to hold, which no such token can have. */
export async function listTokensOfSeveral(
  main: Queryable,
  collectionIds: readonly string[],
  limit: number,
): Promise<TokenKey[]> {
  const rows = await main.query(
    `select collection_id, token_id from main.holding where collection_id = any($1) and quantity > 0
     group by collection_id, token_id having count(*) > 1 order by collection_id, token_id limit $2`,
    [collectionIds, limit],
  );
  return rows.map(decodeTokenOfSeveral);
}

const decodeTransfer = rowDecoder('stored transfer', {
  block: column('block_number', safeInteger),
  from: column('account', text),
  to: column('receiver', text),
});

/** A transfer of an ERC-721 token, as the chain log has it. */
export type StoredTransfer = ReturnType<typeof decodeTransfer>;

/** The transfers of one token, in the order of the chain. */
export async function listStoredTransfers(
  main: Queryable,
  { chain, contractAddress }: { chain: string; contractAddress: string },
  tokenId: string,
): Promise<StoredTransfer[]> {
  const rows = await main.query(
    `select block_number, account, details ->> 'to' as receiver from main.chain_event
     where chain = $1 and contract = $2 and token_id = $3 and kind = 'transfer' order by block_number, log_index, part`,
    [chain, contractAddress, tokenId],
  );
  return rows.map(decodeTransfer);
}

const decodeToken = rowDecoder('audited token', {
  collectionId: column('collection_id', text),
  tokenId: column('token_id', assetId),
  contract: column('contract_address', address),
  standard,
  holders: list(object({ holder: address, quantity: amount })),
  /** Accounts that sent or received the ERC-1155 token, up to a limit. Empty for ERC-721. */
  accounts: list(address),
});

/** `holders`: the units that each account holds, from the primary database. */
export type AuditedToken = Omit<ReturnType<typeof decodeToken>, 'holders'> & {
  holders: ReadonlyMap<ReturnType<typeof decodeToken>['accounts'][number], bigint>;
};

/** The given tokens with their holders. A token is missing if its collection is not followed, or has not caught up with its chain. */
export async function listAuditedTokens(
  db: Queryable,
  tokens: readonly TokenKey[],
  options: { accountsMax: number },
): Promise<AuditedToken[]> {
  const rows = await db.query(
    `select sampled.collection_id, sampled.token_id, follow.contract_address, follow.standard,
       (select coalesce(json_agg(json_build_object('holder', holder, 'quantity', quantity::text) order by holder), '[]')
        from main.holding
        where holding.collection_id = sampled.collection_id and holding.token_id = sampled.token_id) as holders,
       case when follow.standard = 'erc1155' then (select coalesce(json_agg(account), '[]') from (
         select party.account from (
           select account, details ->> 'to' as receiver from main.chain_event
           where chain_event.chain = follow.chain and contract = follow.contract_address
             and chain_event.token_id = sampled.token_id and kind in ('transfer', 'token-approval')) as moved
         cross join lateral (values (moved.account), (moved.receiver)) as party (account)
         where party.account <> $4 group by party.account order by md5(party.account), party.account limit $3) as limited)
       else '[]' end as accounts
     from unnest($1::text[], $2::text[]) as sampled (collection_id, token_id)
     join main.follow on follow.collection_id = sampled.collection_id and follow.joined
     order by sampled.collection_id, sampled.token_id`,
    [
      tokens.map((token) => token.collectionId),
      tokens.map((token) => token.tokenId),
      options.accountsMax,
      ZERO_ADDRESS,
    ],
  );
  return rows.map(decodeToken).map(({ holders, ...token }) => ({
    ...token,
    holders: new Map(holders.map(({ holder, quantity }) => [holder, quantity])),
  }));
}

const decodeOwner = rowDecoder('served owner', {
  collectionId: column('collection_id', text),
  tokenId: column('asset', text),
  owner: nullable(text),
  burned: boolean,
});

export type ServedOwner = ReturnType<typeof decodeOwner>;

export async function listServedOwners(db: Queryable, tokens: readonly TokenKey[]): Promise<ServedOwner[]> {
  const rows = await db.query(
    `select token.collection_id, asset, owner, burned from indexer.token
     join unnest($1::text[], $2::text[]) as sampled (collection_id, token_id)
       on token.collection_id = sampled.collection_id and asset = sampled.token_id`,
    [tokens.map((token) => token.collectionId), tokens.map((token) => token.tokenId)],
  );
  return rows.map(decodeOwner);
}
