// The current time, from which the page computes how old something is. It is updated every ten seconds.

import { Store, useStore } from './store.ts';

const PERIOD_MS = 10_000;
const now = new Store(Date.now());
setInterval(() => now.set(Date.now()), PERIOD_MS);

export function useNow(): number {
  return useStore(now);
}
