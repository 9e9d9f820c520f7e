// An upstream's hourly budget as all processes share it, by the rule of upstreams/budget.ts. It is the key's, not the process's:
// what one takes the others do not have, and a restart fills nothing.

import type { Clock } from '../core/clock.ts';
import type { Queryable } from '../database/port.ts';
import { claimRequest, updateRequestGivenBack } from './queries/request-budgets.ts';
import type { Bucket, Budget } from './budget.ts';
import { refill, toBudgetRule, toLeft, toNeeded } from './budget.ts';

/** Rejects with the database's error where that cannot be asked: then nothing was taken, or nobody knows it. */
export function createSharedBudget(
  main: Queryable,
  { upstream, perHour, clock }: { upstream: string; perHour: number; clock: Clock },
): Budget {
  const rule = toBudgetRule(perHour);
  // What is shown, not what is taken from: the others take too. Full until the first answer says otherwise.
  let known: Bucket = { tokens: rule.burst, at: clock() };
  return {
    perHour,
    take: async (wish) => {
      const claim = { upstream, ...rule, needed: toNeeded(rule, wish), patienceMs: wish.patienceMs };
      const { tokens, waitMs } = await claimRequest(main, claim);
      known = { tokens, at: clock() };
      return waitMs;
    },
    giveBack: async () => {
      await updateRequestGivenBack(main, { upstream, burst: rule.burst });
      known.tokens = Math.min(rule.burst, known.tokens + 1);
    },
    left: () => toLeft(refill(known, rule, clock())),
  };
}
