// Stores and reads the chain log: the events of the followed chains, from which holdings, approvals and order states are derived. Primary
// database. Events are never changed. They are deleted after a reorganisation, when a later read of their block has other events, and when their
// contract is no longer followed.

import type { Hex } from '../../../platform/core/evm.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import type { RowColumns } from '../../../platform/database/row-source.ts';
import { toRowSource, toStatementBatches } from '../../../platform/database/row-source.ts';
import {
  column,
  integer,
  list,
  nullable,
  object,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { LoggedEvent, TokenBid } from '../chain-event.ts';
import type { EvidenceChanges } from '../evidence-changes.ts';
import { toEvidenceChanges } from '../evidence-changes.ts';
import { decodeEvent, decodeEvents, findUnknownKind, KINDS } from './event-rows.ts';

const COLUMNS = `block_number, log_index, part, block_time, tx, kind, contract, token_id, order_hash, account, details`;

const decodeAdded = rowDecoder('added event', {
  added: safeInteger,
  blockNumber: column('block_number', nullable(safeInteger)),
  logIndex: column('log_index', nullable(integer)),
  part: nullable(integer),
});

/**
 * Adds events and returns the events that were new. An event that is already in the log is ignored, so the write of a block can be
 * repeated.
 */
export async function insertChainEvents(
  tx: Queryable,
  chain: string,
  events: readonly LoggedEvent[],
): Promise<LoggedEvent[]> {
  const added: LoggedEvent[] = [];
  for (const batch of toStatementBatches(events)) added.push(...(await insertBatch(tx, chain, batch)));
  return added;
}

async function insertBatch(
  tx: Queryable,
  chain: string,
  events: readonly LoggedEvent[],
): Promise<readonly LoggedEvent[]> {
  const source = toRowSource(events, EVENT_COLUMNS, { first: 3 });
  // If all events are new, which is usual, the statement returns only their number, and not thousands of rows.
  const rows = await tx.query(
    `with added as (
       insert into main.chain_event (chain, ${COLUMNS}) select $1, ${COLUMNS} from ${source.sql}
       on conflict do nothing returning block_number, log_index, part
     ), total as (select count(*) as added from added)
     select total.added, block_number, log_index, part from total left join added on total.added < $2`,
    [chain, events.length, ...source.params],
  );
  const found = rows.map(decodeAdded);
  if (found[0]?.added === events.length) return events;
  const inserted = new Set(found.map((row) => `${row.blockNumber} ${row.logIndex} ${row.part}`));
  return events.filter((event) => inserted.has(`${event.blockNumber} ${event.logIndex} ${event.part}`));
}

/** Deletes the events of all blocks after `blockNumber` and returns them in block order. */
export async function deleteChainEventsAfter(
  tx: Queryable,
  chain: string,
  blockNumber: number,
): Promise<LoggedEvent[]> {
  const rows = await tx.query(
    `with deleted as (delete from main.chain_event where chain = $1 and block_number > $2 returning ${COLUMNS})
     select * from deleted order by block_number, log_index, part`,
    [chain, blockNumber],
  );
  return decodeEvents(rows);
}

/** The events of the blocks from `from` to `to`, both inclusive, in block order. */
export async function listBlockEvents(
  db: Queryable,
  chain: string,
  { from, to }: { from: number; to: number },
): Promise<LoggedEvent[]> {
  const rows = await db.query(
    `select ${COLUMNS} from main.chain_event where chain = $1 and block_number between $2 and $3
     order by block_number, log_index, part`,
    [chain, from, to],
  );
  return decodeEvents(rows);
}

/** Deletes the events of these blocks, except events that only a newer version knows. */
export async function deleteBlockEvents(tx: Queryable, chain: string, blocks: readonly number[]): Promise<void> {
  await tx.query(
    `delete from main.chain_event where chain = $1 and block_number = any($2::bigint[]) and kind = any($3)`,
    [chain, blocks, KINDS],
  );
}

/** Deletes the events of a contract that is no longer followed. Fills are kept: they are events of the settlement protocol's contract. */
export async function deleteContractEvents(tx: Queryable, chain: string, contract: string): Promise<void> {
  await tx.query(`delete from main.chain_event where chain = $1 and contract = $2`, [chain, contract]);
}

/**
 * An entry of the chain log: an event, or a reorganisation. A reorganisation voids the events with a lower sequence number in blocks after
 * block `ancestor`. `affected` is the evidence that changed, and `collectionIds` are the collections that the orphaned events concern. `since`:
 * when the first orphaned block was applied, in milliseconds; null if it is not known. `corrected`: null for a reorganisation. Otherwise the entry
 * is no reorganisation: it voids the events with a lower sequence number in these blocks, which were wrong, and the right events of the blocks
 * follow. `unknown`: an event of a kind that only a newer version knows.
 */
export type LogEntry = { seq: number } & (
  | { event: LoggedEvent }
  | { unknown: { kind: string; tx: Hex } }
  | ({ ancestor: number; affected: EvidenceChanges } & ReorgWindow)
);

type ReorgWindow = { since: number | null; collectionIds: readonly string[]; corrected: readonly number[] | null };

const decodeEntry = rowDecoder('log entry', {
  seq: safeInteger,
  ancestor: nullable(safeInteger),
  affected: nullable(
    object({
      orderHashes: list(text),
      tokens: list(object({ collectionId: text, tokenId: text })),
      owners: list(object({ collectionId: text, owner: text })),
      offerers: list(text),
    }),
  ),
  since: nullable(timestamp),
  collectionIds: column('collection_ids', nullable(list(text))),
  corrected: nullable(list(safeInteger)),
});

/** The first `limit` entries of a chain's log whose sequence number is above `after`, sorted by sequence number. */
export async function listLogEntries(
  db: Queryable,
  chain: string,
  { after, limit }: { after: number; limit: number },
): Promise<LogEntry[]> {
  const rows = await db.query(
    `select * from (
       (select seq, null::bigint as ancestor, null::jsonb as affected, null::timestamptz as since, null::json as collection_ids, null::json as corrected, ${COLUMNS}
        from main.chain_event where chain = $1 and seq > $2 order by seq limit $3)
       union all
       (select seq, ancestor, affected, since, to_json(collection_ids), to_json(corrected), null, null, null, null, null, null, null, null, null, null, null from main.chain_reorg
        where chain = $1 and seq > $2 order by seq limit $3)) as entry
     order by seq limit $3`,
    [chain, after, limit],
  );
  return rows.map((row) => {
    const { seq, ancestor, affected, since, collectionIds, corrected } = decodeEntry(row);
    const window = { since, collectionIds: collectionIds ?? [], corrected };
    if (ancestor === null) {
      const unknown = findUnknownKind(row);
      return unknown ? { seq, unknown } : { seq, event: decodeEvent(row) };
    }
    if (!affected) return { seq, ancestor, affected: toEvidenceChanges(chain, []), ...window };
    const { orderHashes, offerers, ...others } = affected;
    const changes = { chain, orderHashes: new Set(orderHashes), offerers: new Set(offerers), ...others };
    return { seq, ancestor, affected: changes, ...window };
  });
}

const decodeSeq = rowDecoder('last seq', { seq: safeInteger });

/** The sequence number of the last entry of a chain's log; 0 for an empty log. */
export async function findLastSeq(db: Queryable, chain: string): Promise<number> {
  const [row] = await db.query(
    `select greatest((select max(seq) from main.chain_event where chain = $1),
       (select max(seq) from main.chain_reorg where chain = $1), 0) as seq`,
    [chain],
  );
  return row ? decodeSeq(row).seq : 0;
}

export async function insertReorg(
  tx: Queryable,
  chain: string,
  reorg: { ancestor: number; depth: number; affected: EvidenceChanges; at: number } & Omit<ReorgWindow, 'corrected'> &
    Partial<Pick<ReorgWindow, 'corrected'>>,
): Promise<void> {
  const { orderHashes, tokens, owners, offerers } = reorg.affected;
  const affected = { orderHashes: [...orderHashes], tokens, owners, offerers: [...offerers] };
  await tx.query(
    `insert into main.chain_reorg (chain, ancestor, depth, affected, created_at, since, collection_ids, corrected)
     values ($1, $2, $3, $4::jsonb, $5, $6, $7, $8::bigint[])`,
    [
      chain,
      reorg.ancestor,
      reorg.depth,
      JSON.stringify(affected),
      new Date(reorg.at),
      reorg.since === null ? null : new Date(reorg.since),
      reorg.collectionIds,
      reorg.corrected ?? null,
    ],
  );
}

/**
 * The events of one order, and the counter increments of its offerer at the same deployment that end it, in block order. A cancel by another
 * account is left out, and so is an increment to the counter that the order was signed with, or to a lower one.
 */
export async function listOrderEvents(
  db: Queryable,
  chain: string,
  order: { orderHash: string; protocol: string; offerer: string; counter: bigint },
): Promise<LoggedEvent[]> {
  const rows = await db.query(
    `select ${COLUMNS} from main.chain_event where chain = $1 and order_hash = $2
       and (kind <> 'order-cancelled' or account = $4)
     union all
     select ${COLUMNS} from main.chain_event
     where chain = $1 and contract = $3 and account = $4 and kind = 'counter-incremented'
       and (details ->> 'counter')::numeric > $5
     order by block_number, log_index, part`,
    [chain, order.orderHash, order.protocol, order.offerer, order.counter.toString()],
  );
  return decodeEvents(rows);
}

/** The bidder's last bid for the token before a position in the chain. Null when the log has no such bid. */
export async function findLastBid(
  db: Queryable,
  chain: string,
  bid: { protocol: string; tokenId: string; bidder: string; before: { blockNumber: number; logIndex: number } },
): Promise<TokenBid | null> {
  const [row] = await db.query(
    `select ${COLUMNS} from main.chain_event
     where chain = $1 and contract = $2 and token_id = $3 and account = $4 and kind = 'token-bid'
       and (block_number, log_index) < ($5, $6)
     order by block_number desc, log_index desc limit 1`,
    [chain, bid.protocol, bid.tokenId, bid.bidder, bid.before.blockNumber, bid.before.logIndex],
  );
  const event = row ? decodeEvent(row) : null;
  return event?.kind === 'token-bid' ? event : null;
}

/** The transfers and approvals of one token, and the `approval-for-all` events of `holder`, newest first. */
export async function listTokenEvents(
  db: Queryable,
  chain: string,
  token: { contract: string; tokenId: string; holder: string; limit: number },
): Promise<LoggedEvent[]> {
  const rows = await db.query(
    `select ${COLUMNS} from (
       select ${COLUMNS} from main.chain_event
       where chain = $1 and contract = $2 and token_id = $3 and kind in ('transfer', 'token-approval')
       union all
       select ${COLUMNS} from main.chain_event
       where chain = $1 and contract = $2 and account = $4 and kind = 'approval-for-all') as event
     order by block_number desc, log_index desc, part desc limit $5`,
    [chain, token.contract, token.tokenId, token.holder, token.limit],
  );
  return decodeEvents(rows);
}

/** `details` has all fields except position and kind. Fields by which queries search are also stored in columns of their own. */
const EVENT_COLUMNS: RowColumns<LoggedEvent> = {
  block_number: { bigint: (event) => event.blockNumber },
  log_index: { integer: (event) => event.logIndex },
  part: { integer: (event) => event.part },
  block_time: { timestamptz: (event) => event.blockTime },
  tx: { text: (event) => event.tx },
  kind: { text: (event) => event.kind },
  contract: { text: (event) => ('protocol' in event ? event.protocol : event.contract) },
  token_id: { text: (event) => ('tokenId' in event ? event.tokenId : null) },
  order_hash: { text: (event) => ('orderHash' in event ? event.orderHash : null) },
  account: { text: accountOf },
  details: { jsonb: detailsOf },
};

const POSITION: ReadonlySet<string> = new Set(['blockNumber', 'blockTime', 'tx', 'logIndex', 'part', 'kind']);

function detailsOf(event: LoggedEvent): Record<string, unknown> {
  const details: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(event)) if (!POSITION.has(name)) details[name] = withDecimalText(value);
  return details;
}

/** The account by which queries find the event. */
function accountOf(event: LoggedEvent): string | null {
  if ('offerer' in event) return event.offerer;
  if ('owner' in event) return event.owner;
  if ('bidder' in event) return event.bidder;
  return event.kind === 'transfer' ? event.from : null;
}

/** Replaces each bigint by decimal text, because a JSON number cannot hold 256 bits without rounding. */
function withDecimalText(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.map(withDecimalText);
  if (typeof value !== 'object' || value === null) return value;
  const replaced: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) replaced[name] = withDecimalText(member);
  return replaced;
}
