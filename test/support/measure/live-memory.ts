// Measures how much memory is reachable. Resident memory is not measured, because it depends on when the garbage collector ran.

import v8 from 'node:v8';
import vm from 'node:vm';

const SAMPLE_PERIOD_MS = 20;
/** The shortest time between two garbage collections that the samples cause. Without this gap, the collections would slow the test down. */
const COLLECTION_GAP_MS = 250;

export type LiveMemory = {
  /** The most bytes that were reachable at any time since the start, minus the bytes at the start. */
  growth(): number;
};

/**
 * Samples the memory in use until the test ends. If the memory has grown by `worthBytes` or more, a garbage collection shows how
 * much of it is reachable.
 */
export function watchLiveMemory(t: { after(done: () => void): void }, worthBytes: number): LiveMemory {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const measureUsed = () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const measureReachable = () => {
    // Buffers that the first collection finds unreachable are freed in the background. The second collection waits until they are freed.
    collect();
    collect();
    return measureUsed();
  };
  const before = measureReachable();
  let most = before;
  let measuredAt = performance.now();
  const sample = () => {
    if (measureUsed() - before < worthBytes || performance.now() - measuredAt < COLLECTION_GAP_MS) return;
    most = Math.max(most, measureReachable());
    measuredAt = performance.now();
  };
  const timer = setInterval(sample, SAMPLE_PERIOD_MS);
  t.after(() => clearInterval(timer));
  return { growth: () => Math.max(most, measureReachable()) - before };
}
