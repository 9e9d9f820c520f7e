// The hourly budget of an upstream, shared by all processes through the primary database. sources/upstreams/budget.ts has the rules of a budget. A
// restart does not refill the budget.

import type { Clock } from '../../platform/core/clock.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { claimRequest, updateRequestGivenBack } from './queries/request-budgets.ts';
import type { Bucket, Budget, BudgetClaim, BudgetRule } from './budget.ts';
import { refill, toBudgetRule, toLeft, toNeeded } from './budget.ts';

/** `take` rejects when the database fails. Then no request may be sent. */
export class SharedBudget implements Budget {
  readonly perHour: number;
  readonly #main: Queryable;
  readonly #upstream: string;
  readonly #rule: BudgetRule;
  readonly #clock: Clock;
  /**
   * The shared bucket as it was after the last request of this process. It does not include later requests of other processes. Only `left`,
   * which may be imprecise, reads this copy.
   */
  #lastSeen: Bucket;

  constructor(main: Queryable, { upstream, perHour, clock }: { upstream: string; perHour: number; clock: Clock }) {
    this.perHour = perHour;
    this.#main = main;
    this.#upstream = upstream;
    this.#rule = toBudgetRule(perHour);
    this.#clock = clock;
    this.#lastSeen = { tokens: this.#rule.burst, at: clock() };
  }

  async take(claim: BudgetClaim): Promise<number> {
    const { tokens, waitMs } = await claimRequest(this.#main, {
      upstream: this.#upstream,
      ...this.#rule,
      needed: toNeeded(this.#rule, claim),
      patienceMs: claim.patienceMs,
    });
    this.#lastSeen = { tokens, at: this.#clock() };
    return waitMs;
  }

  async giveBack(): Promise<void> {
    const { burst } = this.#rule;
    await updateRequestGivenBack(this.#main, { upstream: this.#upstream, burst });
    this.#lastSeen.tokens = Math.min(burst, this.#lastSeen.tokens + 1);
  }

  left(): number {
    return toLeft(refill(this.#lastSeen, this.#rule, this.#clock()));
  }
}
