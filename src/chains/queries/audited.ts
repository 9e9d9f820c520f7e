// What an audit holds against the chain: signed orders with what is stored of them, and tokens with their holders. Both
// databases. It reads the tables that are served from, and judges nothing.

import type { Address, AssetId } from '../../core/address.ts';
import type { ListingStatus } from '../../orders/order-id.ts';
import type { DormantReason } from '../../orders/status.ts';
import type { Queryable, Row } from '../../database/port.ts';
import type { Hex } from '../../core/evm.ts';
import { ZERO_ADDRESS } from '../../core/evm.ts';
import type { TokenStandard } from '../../core/evm.ts';

/** A signed order: what was signed, and what is stored. */
export type AuditedOrder = {
  orderId: string;
  contract: Address;
  tokenId: AssetId;
  standard: TokenStandard | null;
  seller: Address;
  orderHash: Hex;
  protocol: Address;
  operator: Address | null;
  orderType: number;
  quantity: bigint;
  counter: bigint;
  expiresAt: number | null;
  /** When it was cancelled by word, of which no chain knows. */
  wordAt: number | null;
  status: ListingStatus;
  dormant: DormantReason | null;
  filledQuantity: bigint;
  endedAt: number | null;
  /** What is stored of the seller; null where the collection is not followed, or nothing was told. */
  balance: bigint | null;
  approved: boolean | null;
  storedCounter: bigint | null;
};

/** Which ones, of how many. The same seed chooses the same ones. */
export type Choice = { seed: string; limit: number };

/** The ids of a sample of a chain's signed orders. */
export async function listOrderSample(db: Queryable, chain: string, { seed, limit }: Choice): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from main.book_order where chain = $1 and order_hash is not null order by md5($2 || id), id limit $3`,
    [chain, seed, limit],
  );
  return rows.map((row) => row.id);
}

/** The orders of these ids that are there, with all that is stored about them. */
export async function listAuditedOrders(db: Queryable, orderIds: readonly string[]): Promise<AuditedOrder[]> {
  const rows = await db.query(
    `select stored.*, word.created_at as word_at, counted.counter as stored_counter,
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
         order_type, quantity, counter, expires_at, status, dormant, filled_quantity, ended_at
       from main.book_order where id = any($1) and order_hash is not null) as stored
     left join main.follow on follow.collection_id = stored.collection_id
     left join main.order_cancel as word on word.order_id = stored.id
     left join main.offerer_counter as counted on counted.chain = stored.chain
       and counted.protocol = stored.protocol_address and counted.offerer = stored.seller
     order by stored.id`,
    [orderIds],
  );
  return rows.map(toAuditedOrder);
}

/** A token that is followed, with what the primary says of its holders. */
export type AuditedToken = TokenKey & {
  contract: Address;
  standard: TokenStandard | null;
  holders: ReadonlyMap<Address, bigint>;
  /** Of an ERC-1155 token: accounts that it ever went to or came from, some of them when they are many. */
  accounts: readonly Address[];
};

export type TokenKey = { collectionId: string; tokenId: string };

/** The place of a token in the order that a seed gives: the smallest of two samples are a sample of both together. */
type Drawn = TokenKey & { rank: string };

/** A sample of the tokens that the primary or the indexer knows of the given collections. */
export async function listTokenSample(
  { main, indexer }: { main: Queryable; indexer: Queryable },
  collectionIds: readonly string[],
  { seed, limit }: Choice,
): Promise<TokenKey[]> {
  const params = [collectionIds, seed, limit];
  const rank = (token: string) => `md5($2 || collection_id || ' ' || ${token}) collate "C"`;
  const held = await main.query(
    `select collection_id, token_id, ${rank('token_id')} as rank from main.holding where collection_id = any($1)
     group by collection_id, token_id order by rank, collection_id, token_id limit $3`,
    params,
  );
  const told = await indexer.query(
    `select collection_id, asset as token_id, ${rank('asset')} as rank from indexer.token where collection_id = any($1)
     order by rank, collection_id, asset limit $3`,
    params,
  );
  const drawn = new Map([...held, ...told].map(toDrawn).map((one) => [`${one.collectionId} ${one.tokenId}`, one]));
  return [...drawn.values()].toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, limit);
}

/** Of the given tokens those that are followed live, with their holders. */
export async function listAuditedTokens(
  db: Queryable,
  tokens: readonly TokenKey[],
  options: { accountsMax: number },
): Promise<AuditedToken[]> {
  const rows = await db.query(
    `select wanted.collection_id, wanted.token_id, follow.contract_address, follow.standard,
       (select coalesce(json_agg(json_build_array(holder, quantity::text) order by holder), '[]') from main.holding
        where holding.collection_id = wanted.collection_id and holding.token_id = wanted.token_id) as holders,
       case when follow.standard = 'erc1155' then (select coalesce(json_agg(account), '[]') from (
         select party.account from (
           select account, details ->> 'to' as receiver from main.chain_event
           where chain_event.chain = follow.chain and contract = follow.contract_address
             and chain_event.token_id = wanted.token_id and kind in ('transfer', 'token-approval')) as moved
         cross join lateral (values (moved.account), (moved.receiver)) as party (account)
         where party.account <> $4 group by party.account order by md5(party.account), party.account limit $3) as drawn)
       else '[]' end as accounts
     from unnest($1::text[], $2::text[]) as wanted (collection_id, token_id)
     join main.follow on follow.collection_id = wanted.collection_id and follow.joined
     order by wanted.collection_id, wanted.token_id`,
    [tokens.map((one) => one.collectionId), tokens.map((one) => one.tokenId), options.accountsMax, ZERO_ADDRESS],
  );
  return rows.map((row) => ({
    collectionId: row['collection_id'] as string,
    tokenId: row['token_id'] as string,
    contract: row['contract_address'] as Address,
    standard: row['standard'] as TokenStandard | null,
    holders: new Map((row['holders'] as [Address, string][]).map(([holder, quantity]) => [holder, BigInt(quantity)])),
    accounts: row['accounts'] as Address[],
  }));
}

/** What the indexer serves of a token's owner. */
export type ServedOwner = TokenKey & { owner: string | null; burned: boolean };

export async function listServedOwners(db: Queryable, tokens: readonly TokenKey[]): Promise<ServedOwner[]> {
  const rows = await db.query(
    `select collection_id, asset, owner, burned from indexer.token
     join unnest($1::text[], $2::text[]) as wanted (id, token) on collection_id = wanted.id and asset = wanted.token`,
    [tokens.map((one) => one.collectionId), tokens.map((one) => one.tokenId)],
  );
  return rows.map((row) => ({
    collectionId: row['collection_id'] as string,
    tokenId: row['asset'] as string,
    owner: row['owner'] as string | null,
    burned: row['burned'] as boolean,
  }));
}

/** The last entry of a chain's log, in its order of arrival; 0 when there is none. */
export async function findLastSeq(db: Queryable, chain: string): Promise<number> {
  const [row] = await db.query<{ seq: string }>(
    `select greatest((select max(seq) from main.chain_event where chain = $1),
       (select max(seq) from main.chain_reorg where chain = $1), 0) as seq`,
    [chain],
  );
  return Number(row?.seq ?? 0);
}

function toDrawn(row: Row): Drawn {
  return {
    collectionId: row['collection_id'] as string,
    tokenId: row['token_id'] as string,
    rank: row['rank'] as string,
  };
}

function toAuditedOrder(row: Row): AuditedOrder {
  const timeOf = (name: string) => (row[name] as Date | null)?.getTime() ?? null;
  const amountOf = (name: string) => (row[name] === null ? null : BigInt(row[name] as string));
  return {
    orderId: row['id'] as string,
    contract: row['contract_address'] as Address,
    tokenId: row['token_id'] as AssetId,
    standard: row['standard'] as TokenStandard | null,
    seller: row['seller'] as Address,
    orderHash: row['order_hash'] as Hex,
    protocol: row['protocol_address'] as Address,
    operator: row['operator'] as Address | null,
    orderType: row['order_type'] as number,
    quantity: amountOf('quantity') ?? 0n,
    counter: amountOf('counter') ?? 0n,
    expiresAt: timeOf('expires_at'),
    wordAt: timeOf('word_at'),
    status: row['status'] as ListingStatus,
    dormant: row['dormant'] as DormantReason | null,
    filledQuantity: amountOf('filled_quantity') ?? 0n,
    endedAt: timeOf('ended_at'),
    balance: amountOf('balance'),
    approved: row['approved'] as boolean | null,
    storedCounter: amountOf('stored_counter'),
  };
}
