// Tests the statuses and responses of POST /intake/v1/records on the public server, which requires keys.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { toNdjson, token } from '../support/service/intake.ts';
import type { IntakeClient } from '../support/service/intake-client.ts';
import { startIntake } from '../support/service/intake-client.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';

const LIMIT_MS = 60_000;

forOneEngine('imports in the intake interface', (engine) => {
  describe('service', () => {
    const intake = {} as IntakeClient;
    before(async () => void Object.assign(intake, await startIntake(engine)));
    after(() => intake.service.close());

    describe('importRecords', () => {
      const stream = async (body: string, query = '', key: string | null = intake.keys.intake) => {
        const response = await fetch(`${intake.service.url}/intake/v1/records${query}`, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/x-ndjson', ...(key !== null && { authorization: `Bearer ${key}` }) },
        });
        const lines = (await response.text()).trim().split('\n');
        return { status: response.status, events: lines.map((line) => JSON.parse(line)) };
      };

      test('an import gets 200 and one event on each line: rejections, progress and the counts', async () => {
        const { status, events } = await stream(toNdjson([token(), token({ tokenId: '-1' }), token({ tokenId: '2' })]));
        assert.equal(status, 200);
        assert.match(events.find(({ event }) => event === 'refused').reason, /^tokenId/);
        const done = events.at(-1);
        assert.deepEqual([done.event, done.read, done.inserted, done.refused], ['done', 3, 2, 1]);
        const again = await stream(toNdjson([token()]), '?format=ndjson&dryRun=true');
        assert.equal(again.events.at(-1).unchanged, 1);
      });

      test('wrong parameters get 400, a request without a key gets 401, and a key without the scope gets 403', async () => {
        for (const query of ['?format=xml', '?nope=1', '?dryRun=true&dryRun=true', '?format=csv']) {
          const { status, events } = await stream('', query);
          assert.deepEqual([status, events[0].error.code], [400, 'bad_request'], query);
        }
        assert.equal((await stream('', '', null)).status, 401);
        assert.equal((await stream('', '', intake.keys.orders)).status, 403);
      });

      test('a rejected import gets its response before the end of its body, and nothing of the body is stored', async () => {
        const tokenId = '77';
        /** Sends one record of a body that does not end. */
        const begin = async (query: string, key: string | null): Promise<number> => {
          const sent = request(`${intake.service.url}/intake/v1/records${query}`, {
            method: 'POST',
            headers: {
              'content-type': 'application/x-ndjson',
              ...(key !== null && { authorization: `Bearer ${key}` }),
            },
          });
          // The server may close the connection while the body is being sent.
          sent.on('error', () => undefined).write(toNdjson([token({ tokenId })]));
          const [response] = (await once(sent, 'response', { signal: AbortSignal.timeout(LIMIT_MS) })) as [
            IncomingMessage,
          ];
          response.resume();
          sent.destroy();
          return response.statusCode ?? 0;
        };
        assert.equal(await begin('', null), 401);
        assert.equal(await begin('', intake.keys.orders), 403);
        assert.equal(await begin('?nope=1', intake.keys.intake), 400);
        const again = await stream(toNdjson([token({ tokenId })]), '?dryRun=true');
        assert.equal(again.events.at(-1).inserted, 1);
      });
    });
  });
});
