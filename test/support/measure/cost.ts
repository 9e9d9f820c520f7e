// Measures processor time, and memory in use after a garbage collection. Both depend little on how busy the machine is.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Processor time of this process during `work`. Service and client both run in this process. */
export async function measureCpuMs(work: () => Promise<unknown> | void): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Bytes of the heap in use after a garbage collection. */
export function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Bytes in use after a garbage collection, on the heap and in buffers outside the heap. */
export function memoryHeld(): number {
  // Buffers that the first collection finds unreachable are freed in the background. The second collection waits until they are freed.
  collectGarbage();
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
