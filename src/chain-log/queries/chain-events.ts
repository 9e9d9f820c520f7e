// The log of what happened on the followed chains. Primary database. It is only ever added to, or cut off after an ancestor;
// all that is known of orders, holders and approvals follows from it.

import type { ChainEvent } from '../chain-event.ts';
import type { Queryable, Row } from '../../database/port.ts';
import { toTimestamp } from '../../database/upsert.ts';

const COLUMNS = `block_number, log_index, part, block_time, tx, kind, contract, token_id, order_hash, account, details`;

/** Adds events; one that is there already, as after a step that was read twice, is left alone. Returns those that are new. */
export async function insertChainEvents(
  tx: Queryable,
  chain: string,
  events: readonly ChainEvent[],
): Promise<ChainEvent[]> {
  if (events.length === 0) return [];
  const rows = await tx.query<{ place: string }>(
    `insert into main.chain_event (chain, ${COLUMNS})
     select $1, told.* from json_to_recordset($2::json) as told (
       block_number bigint, log_index integer, part integer, block_time timestamptz, tx text, kind text, contract text,
       token_id text, order_hash text, account text, details jsonb)
     on conflict do nothing
     returning block_number || ' ' || log_index || ' ' || part as place`,
    [chain, JSON.stringify(events.map(toColumns))],
  );
  if (rows.length === events.length) return [...events];
  const fresh = new Set(rows.map((row) => row.place));
  return events.filter((event) => fresh.has(`${event.blockNumber} ${event.logIndex} ${event.part}`));
}

/** Cuts the log off after a block and returns what it held there, in the order of the chain. */
export async function deleteChainEventsAfter(tx: Queryable, chain: string, blockNumber: number): Promise<ChainEvent[]> {
  const rows = await tx.query(
    `with gone as (delete from main.chain_event where chain = $1 and block_number > $2 returning ${COLUMNS})
     select * from gone order by block_number, log_index, part`,
    [chain, blockNumber],
  );
  return rows.map(toChainEvent);
}

/** Forgets what a contract told, when it is followed no more; fills that orders of the own book depend on stay. */
export async function deleteContractEvents(tx: Queryable, chain: string, contract: string): Promise<void> {
  await tx.query(`delete from main.chain_event where chain = $1 and contract = $2`, [chain, contract]);
}

/** An entry of the log in its order of arrival: an event, or a reorganisation that voids what stood after its ancestor. */
export type LogEntry = { seq: number } & ({ event: ChainEvent } | { ancestor: number });

/** What has arrived in a chain's log after `seq`, in the order of arrival. */
export async function listLogEntries(
  db: Queryable,
  chain: string,
  { after, limit }: { after: number; limit: number },
): Promise<LogEntry[]> {
  const rows = await db.query(
    `select * from (
       (select seq, null::bigint as ancestor, ${COLUMNS} from main.chain_event where chain = $1 and seq > $2
        order by seq limit $3)
       union all
       (select seq, ancestor, null, null, null, null, null, null, null, null, null, null, null from main.chain_reorg
        where chain = $1 and seq > $2 order by seq limit $3)) as entry
     order by seq limit $3`,
    [chain, after, limit],
  );
  return rows.map((row) => {
    const seq = Number(row['seq']);
    return row['ancestor'] === null ? { seq, event: toChainEvent(row) } : { seq, ancestor: Number(row['ancestor']) };
  });
}

/** Notes a reorganisation in the log. */
export async function insertReorg(
  tx: Queryable,
  chain: string,
  reorg: { ancestor: number; depth: number; at: number },
): Promise<void> {
  await tx.query(`insert into main.chain_reorg (chain, ancestor, depth, created_at) values ($1, $2, $3, $4)`, [
    chain,
    reorg.ancestor,
    reorg.depth,
    new Date(reorg.at),
  ]);
}

/** What happened to one order, in the order of the chain: its own events, and the counters of its offerer. */
export async function listOrderEvents(
  db: Queryable,
  chain: string,
  order: { orderHash: string; protocol: string; offerer: string },
): Promise<ChainEvent[]> {
  const rows = await db.query(
    `select ${COLUMNS} from main.chain_event where chain = $1 and order_hash = $2
     union all
     select ${COLUMNS} from main.chain_event
     where chain = $1 and contract = $3 and account = $4 and kind = 'counter-incremented'
     order by block_number, log_index, part`,
    [chain, order.orderHash, order.protocol, order.offerer],
  );
  return rows.map(toChainEvent);
}

/** Transfers and approvals of one token, and approvals of its holder, newest first. */
export async function listTokenEvents(
  db: Queryable,
  chain: string,
  token: { contract: string; tokenId: string; holder: string; limit: number },
): Promise<ChainEvent[]> {
  const rows = await db.query(
    `select ${COLUMNS} from (
       select ${COLUMNS} from main.chain_event
       where chain = $1 and contract = $2 and token_id = $3 and kind in ('transfer', 'token-approval')
       union all
       select ${COLUMNS} from main.chain_event
       where chain = $1 and contract = $2 and account = $4 and kind = 'approval-for-all') as told
     order by block_number desc, log_index desc, part desc limit $5`,
    [chain, token.contract, token.tokenId, token.holder, token.limit],
  );
  return rows.map(toChainEvent);
}

/** What the log keeps beside the place and the kind. Only the fields that a column of its own answers for stand outside `details`. */
function toColumns(event: ChainEvent): Record<string, unknown> {
  const { blockNumber, blockTime, tx, logIndex, part, kind, ...fact } = event;
  return {
    block_number: blockNumber,
    log_index: logIndex,
    part,
    block_time: toTimestamp(blockTime),
    tx,
    kind,
    contract: 'protocol' in fact ? fact.protocol : fact.contract,
    token_id: 'tokenId' in fact ? fact.tokenId : null,
    order_hash: 'orderHash' in fact ? fact.orderHash : null,
    account: accountOf(event),
    details: toDetails(fact),
  };
}

function accountOf(event: ChainEvent): string | null {
  if ('offerer' in event) return event.offerer;
  if ('owner' in event) return event.owner;
  return event.kind === 'transfer' ? event.from : null;
}

const WIDE = new Set(['identifier', 'amount', 'counter', 'quantity']);

function toDetails(fact: object): unknown {
  return JSON.parse(
    JSON.stringify(fact, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  );
}

/** An event as a row of the log holds it. */
export function toChainEvent(row: Row): ChainEvent {
  return {
    blockNumber: Number(row['block_number']),
    logIndex: row['log_index'] as number,
    part: row['part'] as number,
    blockTime: (row['block_time'] as Date).getTime(),
    tx: row['tx'] as string,
    kind: row['kind'] as string,
    ...(widen(row['details']) as object),
  } as ChainEvent;
}

/** Wide numbers come back as bigint. */
function widen(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(widen);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      WIDE.has(key) && typeof inner === 'string' ? BigInt(inner) : widen(inner),
    ]),
  );
}
