// The history of a service: its starts with the settings that have changed, and the migrations.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { startTestService } from '../../support/service/service.ts';

const SECRET = Buffer.alloc(32, 7).toString('base64');

forEachEngine('the history of a service', (engine) => {
  test('each start is recorded with the settings that have changed, and no secret is stored', async () => {
    const settings = await engine.settings();
    const start = async (changed: Record<string, string>) => {
      const service = await startTestService({ settings: { ...settings, ...changed } });
      const read = async (limit: number) => (await service.operate('history.read', { limit })).body.result;
      const history = await read(1_000);
      assert.equal((await read(2)).entries.length, 2);
      await service.close();
      return history;
    };
    await start({ ACCESS_LOG: 'true' });
    await start({ ACCESS_LOG: 'true', SECRETS_KEY: SECRET, PLATFORM_FEE_BPS: '250' });
    const { entries, unavailable } = await start({ SECRETS_KEY: SECRET, PLATFORM_FEE_BPS: '200' });
    assert.deepEqual(unavailable, []);
    const starts = entries.filter(({ kind }: { kind: string }) => kind === 'start');
    assert.deepEqual(
      starts.map(({ command, settings: changes }: any) => ({ command, changes })),
      [
        {
          command: 'serve',
          changes: [
            { name: 'ACCESS_LOG', before: 'true', after: null },
            { name: 'PLATFORM_FEE_BPS', before: '250', after: null },
          ],
        },
        {
          command: 'serve',
          changes: [
            { name: 'PLATFORM_FEE_BPS', before: null, after: '250' },
            { name: 'SECRETS_KEY', before: null, after: '***' },
          ],
        },
        { command: 'serve', changes: null },
      ],
    );
    assert.ok(!JSON.stringify(entries).includes(SECRET));
    const migrations = entries.filter(({ kind }: { kind: string }) => kind === 'migration');
    for (const schema of ['main', 'indexer'])
      assert.ok(
        migrations.some((entry: { schema: string }) => entry.schema === schema),
        schema,
      );
    const times = entries.map(({ at }: { at: string }) => at);
    assert.deepEqual(times, times.toSorted().toReversed());
  });
});
