// Waits for a condition that may never hold.

import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;

/** Polls until the condition holds, and returns true. Returns false after `deadline`, a time of `performance.now()`. */
export async function isReached(condition: () => Promise<boolean> | boolean, deadline: number): Promise<boolean> {
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
