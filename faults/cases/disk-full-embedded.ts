// The disk with the embedded database becomes full under load, and later has free space again.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fillDisk } from '../../test/support/engines/file-systems.ts';
import { until } from '../../test/support/until.ts';
import type { Fault } from '../fault.ts';
import type { Program } from '../program.ts';
import { mountSmallDisk } from '../small-disk.ts';

const FULL_MS = 10_000;
/** The exit code of a service whose embedded database has stopped. */
const EXIT_ENGINE_STOPPED = 70;
const FULL = /^(mercat: )?the disk that holds \S+ is full/;
/** The time limit for a start. It is long enough for a slow machine. */
const START_LIMIT_MS = 120_000;

export const fault: Fault = {
  name: 'disk-full-embedded',
  promise:
    'writes are 503, or the service ends with exit code 70 and a line that names the disk; when the disk has free space again, the service starts with every acknowledged write',
  engines: ['embedded'],
  needs: ['root'],
  mayGet: ['no response'],
  run: async (context) => {
    const disk = mountSmallDisk(context, '160m');
    const platform = await context.start({ dataDir: disk });
    const { service } = platform;
    let seen = 'the service went on';
    await platform.whileBroken(async () => {
      const ballast = fillDisk(disk, 0);
      await sleep(FULL_MS);
      if (!service.isRunning) seen = await startOnFullDisk(service);
      rmSync(ballast);
      if (!service.isRunning) service.launch();
      await platform.ready();
    });
    return [`full for ${FULL_MS / 1_000} s`, seen];
  },
};

/** Starts a service that the full disk has stopped, as a service manager does. Returns what the service did. */
async function startOnFullDisk(service: Program): Promise<string> {
  assert.equal(service.exitCode, EXIT_ENGINE_STOPPED, `the service ended: ${service.lines.slice(-5).join(' ')}`);
  const stopped = service.lines.findLast((line) => FULL.test(line));
  assert.ok(stopped, 'no line names the full disk');
  const before = service.lines.length;
  service.launch();
  const isStarted = () => service.lines.slice(before).some((line) => line.includes('serves on'));
  await until(() => !service.isRunning || isStarted(), START_LIMIT_MS, 'the service neither started nor ended');
  if (service.isRunning) return `${stopped}; a start on the full disk succeeded`;
  const refused = service.lines.slice(before).find((line) => FULL.test(line));
  assert.ok(refused, `a start on the full disk ended without its reason: ${service.lines.slice(before).join(' ')}`);
  return `${stopped}; a start on the full disk ended with ${service.exitCode}: ${refused}`;
}
