// Opening a PostgreSQL database.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { openDatabases } from '../../../src/platform/database/open.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';

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
