// Stores what is left of each upstream's hourly budget of requests, which all processes share. Primary database. All times are from the
// clock of the database, because the clocks of machines differ.

import type { Queryable } from '../../../platform/database/port.ts';
import { boolean, column, double, rowDecoder } from '../../../platform/database/rows.ts';

/**
 * `burst`: how many requests a full budget holds. `perMs`: how many are added per millisecond. `needed`: how many the budget must hold for
 * this request to be sent without waiting (sources/upstreams/budget.ts).
 */
export type RequestClaim = { upstream: string; burst: number; perMs: number; needed: number; patienceMs: number };

/**
 * `tokens`: how many requests the budget holds after the claim. The number is negative while taken requests wait to be sent. `waitMs`: how long
 * the request must wait before it is sent. If `waitMs` exceeds `patienceMs`, `taken` is false: no request was taken from the budget.
 */
export type ClaimedRequest = { tokens: number; waitMs: number; taken: boolean };

const decodeClaimed = rowDecoder('request_budget', {
  tokens: double,
  waitMs: column('wait_ms', double),
  taken: boolean,
});

/** Takes one request from a budget, unless the wait is too long. A budget that is not stored yet is full. */
export async function claimRequest(db: Queryable, claim: RequestClaim): Promise<ClaimedRequest> {
  const first = await claimFromStored(db, claim);
  if (first) return first;
  await insertFullBudget(db, claim);
  const second = await claimFromStored(db, claim);
  if (!second) throw new Error(`the request budget of ${claim.upstream} was deleted while it was read`);
  return second;
}

async function claimFromStored(db: Queryable, claim: RequestClaim): Promise<ClaimedRequest | null> {
  // While this statement waits for the lock, another statement can store a time later than `now`. The later time is kept. A stored time more
  // than a minute ahead is replaced by `now`: the clock of the database server has been set back, or the database was moved to another server.
  const [row] = await db.query(
    `with held as (
       select tokens, at, clock_timestamp() as now from main.request_budget where upstream = $1 for update
     ), filled as (
       select least($2::float8, tokens + greatest(0, extract(epoch from now - at) * 1000)::float8 * $3::float8) as tokens,
         case when at > now + interval '1 minute' then now else greatest(at, now) end as at
       from held
     ), claimed as (
       select tokens, at, greatest(0, ceil(($5::float8 - tokens) / $3::float8)) as wait_ms from filled
     )
     update main.request_budget as budget
     set tokens = claimed.tokens - (claimed.wait_ms <= $4::float8)::int, at = claimed.at
     from claimed where budget.upstream = $1
     returning budget.tokens, claimed.wait_ms, claimed.wait_ms <= $4::float8 as taken`,
    [claim.upstream, claim.burst, claim.perMs, claim.patienceMs, claim.needed],
  );
  return row ? decodeClaimed(row) : null;
}

async function insertFullBudget(db: Queryable, { upstream, burst }: RequestClaim): Promise<void> {
  await db.query(
    `insert into main.request_budget (upstream, tokens, at) values ($1, $2, clock_timestamp()) on conflict do nothing`,
    [upstream, burst],
  );
}

/** Puts back one request that was taken but not sent. */
export async function updateRequestGivenBack(
  db: Queryable,
  { upstream, burst }: { upstream: string; burst: number },
): Promise<void> {
  await db.query(`update main.request_budget set tokens = least($2::float8, tokens + 1) where upstream = $1`, [
    upstream,
    burst,
  ]);
}
