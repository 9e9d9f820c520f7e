// Opening a database, and which errors mean that it cannot be reached.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { isOutOfReach } from '../../../src/platform/database/port.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Longer than the time limit of a connection. */
const BLOCKED_MS = 2_500;

forEachEngine('opening databases', (engine) => {
  test('what blocks the event loop when a database begins to open does not count as time to connect', async () => {
    const settings = await engine.settings();
    const config = readConfig(settings);
    const log = createLog('silent');
    const opening = openDatabases(config, log);
    const until = performance.now() + BLOCKED_MS;
    while (performance.now() < until);
    const databases = await opening;
    try {
      assert.equal((await databases.main.query('select 1 as one'))[0]?.['one'], 1);
    } finally {
      await databases.close();
    }
  });
});

test('a missing socket means that the database cannot be reached, and a missing file does not', async () => {
  const missing = path.join(temporaryDirectory(), 'missing');
  const failedConnection = new Promise((resolve) => connect(missing).on('error', resolve));
  const failedRead = readFile(missing).catch((error: unknown) => error);
  const errors = [await failedConnection, await failedRead] as { code: string }[];
  assert.deepEqual(
    errors.map((error) => [error.code, isOutOfReach(error)]),
    [
      ['ENOENT', true],
      ['ENOENT', false],
    ],
  );
});
