// A restore into the databases of a stopped service is killed at different moments. The database holds all rows after each kill.

import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { importBulk } from '../bulk.ts';
import { runCommand } from '../command.ts';
import { PATIENT } from '../none-failed.ts';
import type { Fault, FaultContext } from '../fault.ts';
import type { Platform } from '../platform.ts';

/** The moments of the kills, as shares of the time that a complete restore takes. */
const KILL_MOMENTS = [0.3, 0.6, 0.8, 0.95];
const POLL_MS = 20;

export const fault: Fault = {
  name: 'killed-during-restore',
  promise: 'a restore that is killed leaves the database as it was, and succeeds when it is run again',
  engines: ['embedded', 'postgresql'],
  mayGet: ['no response'],
  run: async (context) => {
    const platform = await context.start({ settings: PATIENT });
    const { service, worker } = platform;
    await importBulk(platform);
    let seen = '';
    await platform.whileBroken(async () => {
      await Promise.all([service.end('SIGTERM'), worker?.end('SIGTERM')]);
      seen = await killRestores(context, platform);
      service.launch();
      worker?.launch();
      await platform.ready();
    });
    return [seen];
  },
};

async function killRestores({ newCommand }: FaultContext, platform: Platform): Promise<string> {
  const file = path.join(temporaryDirectory(), 'backup');
  const rowsOf = async (target: string): Promise<unknown> => {
    const text = await runCommand(newCommand(platform, ['backup', target, '--force', '--json']));
    return (JSON.parse(text) as { tables: unknown }).tables;
  };
  const rows = await rowsOf(file);
  const newRestore = () => newCommand(platform, ['restore', file, '--replace']);
  const startedAt = performance.now();
  await runCommand(newRestore());
  let restoreMs = performance.now() - startedAt;
  let killed = 0;
  for (const moment of KILL_MOMENTS) {
    const restore = newRestore();
    restore.launch();
    const launchedAt = performance.now();
    const killAt = launchedAt + moment * restoreMs;
    while (restore.isRunning && performance.now() < killAt) await sleep(POLL_MS);
    // This restore ended before the kill, so it took less time than `restoreMs`. The moments of the later kills are shares of this shorter time.
    if (!restore.isRunning) restoreMs = performance.now() - launchedAt;
    else killed += 1;
    await restore.end('SIGKILL');
    assert.deepEqual(await rowsOf(`${file}-after`), rows, `rows after a kill at ${moment} of the restore`);
  }
  assert.ok(killed > 0, 'every restore was complete before its kill');
  const restored = await runCommand(newRestore());
  return `${killed} of ${KILL_MOMENTS.length} restores were killed before they were complete; then: ${restored}`;
}
