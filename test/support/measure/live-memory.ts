// How much memory is held, as opposed to used and not yet collected: what a process takes from the system says more of when its
// collector ran than of what the program keeps.

import v8 from 'node:v8';
import vm from 'node:vm';

const LOOK_MS = 20;
/** Collecting takes as long as an answer may: it is done now and then, and when there is something to learn from it. */
const CLOSE_LOOK_MS = 250;

export type LiveMemory = {
  /** The most bytes that were held at once since the start, above what was held then. */
  growth(): number;
};

/** Looks again and again until the test is over: what may be more than `worthBytes` is looked at closely. */
export function watchLiveMemory(t: { after(done: () => void): void }, worthBytes: number): LiveMemory {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const look = () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const lookClosely = () => {
    // Buffers that the first collection finds dead are freed beside it, and surely before the second one.
    collect();
    collect();
    return look();
  };
  const before = lookClosely();
  let most = before;
  let lookedAt = performance.now();
  const watch = () => {
    if (look() - before < worthBytes || performance.now() - lookedAt < CLOSE_LOOK_MS) return;
    most = Math.max(most, lookClosely());
    lookedAt = performance.now();
  };
  const timer = setInterval(watch, LOOK_MS);
  t.after(() => clearInterval(timer));
  return { growth: () => Math.max(most, lookClosely()) - before };
}
