// What something costs, measured so that a busy machine changes little: processor time, and memory in use after a collection.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Processor time of this process, which runs service and client, during `work`. */
export async function measureCpuMs(work: () => Promise<unknown> | void): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Bytes of the heap that are in use. */
export function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Bytes that the heap and all buffers beside it hold. */
export function memoryHeld(): number {
  // Buffers are freed beside the first collection; the second one waits for that.
  collectGarbage();
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
