// How much memory is held, as opposed to used and not yet collected: what a process takes from the system says more of when its
// collector ran than of what the program keeps.

import v8 from 'node:v8';
import vm from 'node:vm';

const LOOK_MS = 20;
/** Collecting takes as long as an answer may: it is done when there is something to learn from it. */
const WORTH_BYTES = 64 * 2 ** 20;
const CLOSE_LOOK_MS = 250;

export type LiveMemory = {
  /** The most bytes that were held at once since the start, above what was held then. */
  growth(): number;
};

/** Looks again and again until the test is over. */
export function watchLiveMemory(t: { after(done: () => void): void }): LiveMemory {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const look = () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const lookClosely = () => {
    collect();
    return look();
  };
  const before = lookClosely();
  let most = before;
  let lookedAt = performance.now();
  const watch = () => {
    if (look() - before < WORTH_BYTES || performance.now() - lookedAt < CLOSE_LOOK_MS) return;
    most = Math.max(most, lookClosely());
    lookedAt = performance.now();
  };
  const timer = setInterval(watch, LOOK_MS);
  t.after(() => clearInterval(timer));
  return { growth: () => Math.max(most, lookClosely()) - before };
}
