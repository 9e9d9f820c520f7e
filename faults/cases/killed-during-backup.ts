// The process that writes a backup is killed, again and again. On the embedded engine this process is the service.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { until } from '../../test/support/until.ts';
import { importBulk } from '../bulk.ts';
import { COMMAND_LIMIT_MS, runCommand } from '../command.ts';
import { PATIENT } from '../none-failed.ts';
import type { Fault } from '../fault.ts';

const ROUNDS = 5;
/** A kill happens at a random moment within this time after the file of the backup was created. */
const KILL_MOMENT_MAX_MS = 300;

export const fault: Fault = {
  name: 'killed-during-backup',
  promise:
    'if a file with the final name of the backup exists, it is complete; the next backup succeeds and can be restored',
  engines: ['embedded', 'postgresql'],
  mayGet: ['no response'],
  run: async ({ engine, start, newCommand }) => {
    const platform = await start({ settings: PATIENT });
    const { service } = platform;
    await importBulk(platform);
    const directory = temporaryDirectory();
    const files = Array.from({ length: ROUNDS }, (_, round) => path.join(directory, `killed-${round}`));
    let restored = '';
    await platform.whileBroken(async () => {
      for (const file of files) {
        const command = newCommand(platform, ['backup', file]);
        command.launch();
        // The file has a temporary name until it is complete.
        const exists = () => readdirSync(directory).some((name) => name.startsWith(path.basename(file)));
        await until(exists, COMMAND_LIMIT_MS, 'the backup has not begun');
        await sleep(randomInt(KILL_MOMENT_MAX_MS));
        if (engine === 'embedded') {
          await service.end('SIGKILL');
          service.launch();
          await platform.ready();
        } else await command.end('SIGKILL');
        await command.ended(COMMAND_LIMIT_MS);
      }
      const last = path.join(directory, 'last');
      await runCommand(newCommand(platform, ['backup', last]));
      for (const file of [...files.filter((one) => existsSync(one)), last]) {
        restored = await runCommand(newCommand(null, ['restore', file], { DATA_DIR: temporaryDirectory() }));
      }
    });
    const complete = files.filter((file) => existsSync(file));
    assert.ok(complete.length < ROUNDS, 'every backup was complete before its process was killed');
    return [`${ROUNDS - complete.length} of ${ROUNDS} backups were killed before they were complete`, restored];
  },
};
