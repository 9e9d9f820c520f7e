// How much memory is reachable. The resident memory of a process depends more on when its garbage collector ran.

import v8 from 'node:v8';
import vm from 'node:vm';

const LOOK_MS = 20;
/** A collection takes long, so it runs only this often, and only when the memory in use has grown enough. */
const CLOSE_LOOK_MS = 250;

export type LiveMemory = {
  /** The most bytes that were held at once since the start, above what was held then. */
  growth(): number;
};

/** Measures repeatedly until the test ends. Growth beyond `worthBytes` is measured after a collection. */
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
