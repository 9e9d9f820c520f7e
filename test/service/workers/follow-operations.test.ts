// The operation that adds a collection checks its input before it reads the chain or stores anything.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import { OperatorError } from '../../../src/platform/core/errors.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { createCollectionOperations } from '../../../src/service/workers/follow-operations.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { EVM, emptyTables, toContext } from '../../support/service/intake.ts';

forOneEngine('adding a collection', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  for (const wrong of [{ fromBlock: -1 }, { fromBlock: '7' }, { opensea: 7 }, { slug: '' }, { launched: 1 }]) {
    test(`an input with ${JSON.stringify(wrong)} is rejected and stores nothing, also if the chain has no endpoint`, async () => {
      const config = readConfig({ OPENSEA_API_KEY: 'a-key', OPENSEA_URL: 'http://127.0.0.1:1' });
      const context = { ...toContext(db), config, log: createLog('silent'), random: () => 0.5 };
      const operations = createCollectionOperations({ ...context, onFollowed: async () => undefined });
      for (const dryRun of [true, false]) {
        const input = { chain: 'ethereum', address: EVM, ...wrong, dryRun };
        await assert.rejects(operations['collections.add'](input), { name: 'OperatorError', exitCode: 2 });
      }
      assert.deepEqual(await db.query('select id from main.collection'), []);
    });
  }

  test('an endpoint out of reach is a message for the operator, also while its breaker is open', async () => {
    const settings = { RPC_URL_ETHEREUM: 'http://127.0.0.1:1' };
    const operations = createCollectionOperations({
      ...toContext(db, { settings }),
      onFollowed: async () => undefined,
    });
    // The second attempt finds the breaker open.
    for (const _attempt of ['first', 'second']) {
      await assert.rejects(operations['collections.add']({ chain: 'ethereum', address: EVM }), (error) => {
        assert.ok(error instanceof OperatorError, String(error));
        assert.match(error.message, /^no endpoint of ethereum returned a usable response \(/);
        return true;
      });
    }
  });
});
