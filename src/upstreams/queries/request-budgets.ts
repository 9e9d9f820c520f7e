// What is left of each upstream's hourly budget of requests, for all processes together. Primary database. Every time is the
// database's own: by the clock of one machine, the request that another took a moment ago may be an hour old.

import type { Queryable } from '../../database/port.ts';

/**
 * One request to be taken: `burst` is a full budget, `perMs` how fast it fills, `needed` what has to be in it for the request to be
 * sent at once (upstreams/budget.ts).
 */
export type RequestClaim = { upstream: string; burst: number; perMs: number; needed: number; patienceMs: number };

/** What is left, below zero with those who wait; and how long this one has to. Nothing is taken beyond its patience. */
export type ClaimedRequest = { tokens: number; waitMs: number; taken: boolean };

/** Takes one request, in one statement. A budget that nobody has asked for yet is full. */
export async function claimRequest(db: Queryable, claim: RequestClaim): Promise<ClaimedRequest> {
  const first = await claimFromStored(db, claim);
  if (first) return first;
  await insertFullBudget(db, claim);
  const second = await claimFromStored(db, claim);
  if (!second) throw new Error(`the request budget of ${claim.upstream} was deleted as soon as it was made`);
  return second;
}

async function claimFromStored(db: Queryable, claim: RequestClaim): Promise<ClaimedRequest | null> {
  // Statements that waited for one another come in another order than they looked at the clock: the later time stays. One
  // that lies further ahead is of a clock that was set back since, or of a server that this one took over from: it gives
  // nothing, and is not waited for.
  const [row] = await db.query<{ tokens: number; wait_ms: number; taken: boolean }>(
    `with held as (
       select tokens, at, clock_timestamp() as now from main.request_budget where upstream = $1 for update
     ), filled as (
       select least($2::float8, tokens + greatest(0, extract(epoch from now - at) * 1000)::float8 * $3::float8) as tokens,
         case when at > now + interval '1 minute' then now else greatest(at, now) end as at
       from held
     ), turn as (
       select tokens, at, greatest(0, ceil(($5::float8 - tokens) / $3::float8)) as wait_ms from filled
     )
     update main.request_budget as budget
     set tokens = turn.tokens - (turn.wait_ms <= $4::float8)::int, at = turn.at
     from turn where budget.upstream = $1
     returning budget.tokens, turn.wait_ms, turn.wait_ms <= $4::float8 as taken`,
    [claim.upstream, claim.burst, claim.perMs, claim.patienceMs, claim.needed],
  );
  return row ? { tokens: row.tokens, waitMs: row.wait_ms, taken: row.taken } : null;
}

async function insertFullBudget(db: Queryable, { upstream, burst }: RequestClaim): Promise<void> {
  await db.query(
    `insert into main.request_budget (upstream, tokens, at) values ($1, $2, clock_timestamp()) on conflict do nothing`,
    [upstream, burst],
  );
}

/** Gives back a request that was taken and not sent. */
export async function updateRequestGivenBack(
  db: Queryable,
  { upstream, burst }: { upstream: string; burst: number },
): Promise<void> {
  await db.query(`update main.request_budget set tokens = least($2::float8, tokens + 1) where upstream = $1`, [
    upstream,
    burst,
  ]);
}
