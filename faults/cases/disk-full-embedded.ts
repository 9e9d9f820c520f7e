// The disk with the embedded database becomes full under load, and later has free space again.

import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fillDisk } from '../../test/support/engines/file-systems.ts';
import type { Fault } from '../fault.ts';
import { mountSmallDisk } from '../small-disk.ts';

const FULL_MS = 10_000;
/** The exit code of a service whose embedded database has stopped. */
const EXIT_ENGINE_STOPPED = 70;

export const fault: Fault = {
  name: 'disk-full-embedded',
  promise:
    'writes are 503, or the service ends with exit code 70 and one line; after a start every acknowledged write is there',
  engines: ['embedded'],
  needs: ['root'],
  mayGet: ['no response'],
  run: async (context) => {
    const disk = mountSmallDisk(context, '160m');
    const platform = await context.start({ dataDir: disk });
    const { service } = platform;
    await platform.whileBroken(async () => {
      const ballast = fillDisk(disk, 0);
      await sleep(FULL_MS);
      rmSync(ballast);
      if (service.isRunning) return;
      if (service.exitCode !== EXIT_ENGINE_STOPPED) throw new Error(`the service ended with ${service.exitCode}`);
      service.launch();
      await platform.ready();
    });
    const stopped = service.lines.find((line) => line.includes('the database has stopped'));
    return [`full for ${FULL_MS / 1_000} s`, stopped ?? 'the service went on'];
  },
};
