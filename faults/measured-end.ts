// Measures how long a process takes to end after SIGTERM. The time in which the process waited for a processor is subtracted.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Program } from './program.ts';

const POLL_MS = 20;
const NS_PER_MS = 1_000_000;
/** The longest time that docs/operation.md allows, with the default grace period. */
const END_MAX_MS = 5_000;

/** Ends the process with SIGTERM. Throws if the end took too long although the process had a processor. */
export async function endInTime(program: Program): Promise<string> {
  const { pid } = program;
  const startedAt = performance.now();
  const waitedBefore = readWaitedMs(pid) ?? 0;
  let waitedMs = 0;
  // The time from SIGTERM to the last sample, without the time in which the process waited for a processor.
  let ownMs = 0;
  const ended = program.end('SIGTERM');
  while (program.isRunning) {
    const waited = readWaitedMs(pid);
    if (waited === null) break;
    waitedMs = waited - waitedBefore;
    ownMs = performance.now() - startedAt - waitedMs;
    await sleep(POLL_MS);
  }
  await ended;
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  const seen = `${seconds(performance.now() - startedAt)} s, of which ${seconds(waitedMs)} s waiting for a processor`;
  assert.ok(ownMs <= END_MAX_MS, `a node took too long to end: ${seen}`);
  return seen;
}

/** How long the main thread of a process was ready to run, but had no processor. Null after the end of the process. Linux only. */
function readWaitedMs(pid: number): number | null {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / NS_PER_MS;
  } catch {
    return null;
  }
}
