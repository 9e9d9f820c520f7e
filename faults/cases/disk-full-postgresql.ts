// The disk with the primary becomes full under load, and later has free space again. If PostgreSQL stopped because it could not write
// its write-ahead log, the test starts PostgreSQL again.

import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fillDisk } from '../../test/support/engines/file-systems.ts';
import type { Fault } from '../fault.ts';
import { mountSmallDisk } from '../small-disk.ts';

const FULL_MS = 15_000;

export const fault: Fault = {
  name: 'disk-full-postgresql',
  promise:
    'while the disk is full, reads succeed if PostgreSQL still runs, and writes get 503 with Retry-After; when the disk has free space, all requests succeed again',
  engines: ['postgresql'],
  needs: ['root'],
  run: async (context) => {
    const disk = mountSmallDisk(context, '200m');
    const platform = await context.start({ postgres: { parent: disk } });
    const { postgres } = platform;
    let hasEnded = false;
    await platform.whileBroken(async () => {
      const ballast = fillDisk(disk, 0);
      await sleep(FULL_MS);
      rmSync(ballast);
      hasEnded = !postgres.isRunning();
      if (hasEnded) await postgres.start();
    });
    return [`full for ${FULL_MS / 1_000} s`, hasEnded ? 'PostgreSQL had stopped' : 'PostgreSQL kept running'];
  },
};
