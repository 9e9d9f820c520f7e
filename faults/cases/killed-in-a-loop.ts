// The service and the worker are killed again and again while clients write.

import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

const ROUNDS = Number(process.env['KILLS'] ?? 10);
/** The number of requests between two kills, so that each kill happens under load. */
const REQUESTS_BETWEEN = 40;
const KILL_MOMENT_MAX_MS = 300;
/** The worker is killed in every second round. */
const WORKER_PERIOD = 2;

export const fault: Fault = {
  name: 'killed-in-a-loop',
  promise: 'after each kill -9 a new start needs no repair; only requests without a response are repeated',
  engines: ['embedded', 'postgresql'],
  mayGet: ['no response'],
  run: async ({ start }) => {
    const platform = await start();
    const { service, worker, load } = platform;
    let slowestMs = 0;
    await platform.whileBroken(async () => {
      for (let round = 1; round <= ROUNDS; round += 1) {
        await load.progress(REQUESTS_BETWEEN);
        await sleep(randomInt(KILL_MOMENT_MAX_MS));
        const killedAt = performance.now();
        if (round % WORKER_PERIOD === 0) await worker?.end('SIGKILL');
        await service.end('SIGKILL');
        service.launch();
        if (worker && !worker.isRunning) worker.launch();
        await platform.ready();
        slowestMs = Math.max(slowestMs, performance.now() - killedAt);
      }
    });
    return [`${ROUNDS} kills; ready again after ${(slowestMs / 1_000).toFixed(1)} s at most`];
  },
};
