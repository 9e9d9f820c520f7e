// The limits of the public intake: requests in a minute, and bytes of a stream of records. A stream that is too long is rejected in
// bounded memory. The rows that the response reported as stored are stored.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { createOpenApiContract } from '../support/service/contract.ts';
import { NOW, toNdjson, token } from '../support/service/intake.ts';
import { memoryHeld } from '../support/measure/cost.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import type { TestResponse, TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

const MEGABYTE = 1024 * 1024;
const RECORDS_BYTES_MAX = 64 * MEGABYTE;
/** Memory is measured each time this many bytes have been sent. */
const MEASURE_EVERY_BYTES = 8 * MEGABYTE;
/** The most bytes by which memory may grow during a stream. Service and client share this process. */
const HELD_MAX = 16 * MEGABYTE;
const REQUESTS_MAX = 8;
const FAILURES_MAX = 60;
const MINUTE_MS = 60_000;
/** A blank line with a length of a sixteenth of a megabyte. */
const blankLine = Buffer.from(`${' '.repeat(MEGABYTE / 16 - 1)}\n`);

forOneEngine('the limits of the intake', (engine) => {
  describe('service', () => {
    let service: TestService;
    let contract: ReturnType<typeof createOpenApiContract>;
    let now = NOW;
    before(async () => {
      const settings = { ...(await engine.settings()), STORE_RATE_LIMIT: String(REQUESTS_MAX), TRUST_PROXY: 'true' };
      service = await startTestService({ settings, clock: () => now });
      contract = createOpenApiContract(await (await fetch(`${service.url}/intake/v1/openapi.json`)).json());
    });
    after(() => service.close());

    const newKey = async (...scopes: string[]): Promise<string> => {
      const { status, body } = await service.operate('keys.create', { scopes });
      assert.equal(status, 200, JSON.stringify(body));
      return body.result.secret;
    };
    const send = async (
      method: string,
      path: string,
      { key, body, from = '203.0.113.1' }: { key?: string; body?: string; from?: string } = {},
    ): Promise<TestResponse> => {
      const headers = {
        'x-forwarded-for': from,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const response = await fetch(`${service.url}/intake/v1${path}`, { method, headers, ...(body && { body }) });
      const text = await response.text();
      const isStream = path === '/records' && response.status === 200;
      const parsed = isStream ? JSON.parse(text.trim().split('\n').at(-1) ?? '') : JSON.parse(text);
      const received = { status: response.status, headers: response.headers, text, body: parsed };
      if (!isStream) contract.check(method, `/intake/v1${path}`, received);
      return received;
    };
    const assertLimited = ({ status, body, headers }: TestResponse, limit: number, resetAt: number) => {
      assert.deepEqual([status, body.error.code], [429, 'rate_limited']);
      const seconds = Math.ceil((resetAt - now) / 1_000);
      assert.deepEqual(
        ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'].map((n) => headers.get(n)),
        [String(limit), '0', new Date(resetAt).toISOString(), String(seconds)],
      );
    };

    test('each key has one limit per minute for all routes of the intake', async () => {
      const scopes = ['orders:write', 'intake:write'];
      const [key, other] = [await newKey(...scopes), await newKey(...scopes)];
      const record = toNdjson([token({ tokenId: '77' })]);
      const start = now;
      const requests: [method: string, path: string, body: string | undefined, status: number][] = [
        ['POST', '/orders', '{', 400],
        ['GET', '/orders/none', undefined, 404],
        ['GET', '/orders/none/explain', undefined, 404],
        ['POST', '/orders/none/cancel', undefined, 404],
      ];
      for (let count = 0; count < REQUESTS_MAX; count += 1) {
        const [method, path, body, status] = requests[count % requests.length] ?? assert.fail();
        // Each request comes from a different address. They share one limit all the same, because the limit belongs to the key.
        const response = await send(method, path, { key, ...(body && { body }), from: `203.0.113.${count}` });
        assert.equal(response.status, status, response.text);
        assert.equal(response.headers.get('x-ratelimit-limit'), null);
      }
      now += 15_000;
      for (const [method, path, body] of requests) {
        assertLimited(await send(method, path, { key, ...(body && { body }) }), REQUESTS_MAX, start + MINUTE_MS);
      }
      assertLimited(await send('POST', '/records', { key, body: record }), REQUESTS_MAX, start + MINUTE_MS);
      assert.equal(
        (await send('GET', '/orders/none', { key: other })).status,
        404,
        'the limit of one key applied to another key',
      );
      now = start + MINUTE_MS;
      const imported = await send('POST', '/records', { key, body: record });
      assert.deepEqual(
        [imported.body.event, imported.body.inserted],
        ['done', 1],
        'the request over the limit stored the record',
      );
    });

    test('after 60 failed authentications from an address in a minute, further failures get 429', async () => {
      const key = await newKey('orders:write');
      const start = now;
      for (let failures = 0; failures < FAILURES_MAX; failures += 1) {
        const wrong = failures % 2 === 0 ? {} : { key: `${key.slice(0, -1)}_` };
        assert.equal((await send('POST', '/orders', { ...wrong, body: '{}' })).status, 401);
      }
      assertLimited(await send('POST', '/orders', { body: '{}' }), FAILURES_MAX, start + MINUTE_MS);
      assert.equal((await send('GET', '/orders/none', { key })).status, 404);
      assert.equal((await send('GET', '/orders/none', { from: '203.0.113.2' })).status, 401);
      now = start + MINUTE_MS;
    });

    /**
     * Sends the stream as fast as the server reads it, until the response reports an error. Resolves to the events of the response,
     * the number of bytes sent, and the growth of memory.
     */
    const stream = async (key: string, pieces: Iterable<Buffer>) => {
      const headers = { authorization: `Bearer ${key}` };
      const request = http.request(`${service.url}/intake/v1/records`, { method: 'POST', headers, agent: false });
      let isRejected = false;
      const responded = once(request, 'response').then(async ([response]) => {
        let text = '';
        for await (const part of (response as http.IncomingMessage).setEncoding('utf8')) {
          text += part as string;
          isRejected = text.includes('"event":"error"');
        }
        return text;
      });
      const start = memoryHeld();
      let peak = start;
      let sent = 0;
      let measureAt = MEASURE_EVERY_BYTES;
      for (const piece of pieces) {
        if (isRejected) break;
        if (!request.write(piece)) await once(request, 'drain');
        sent += piece.length;
        if (sent < measureAt) continue;
        peak = Math.max(peak, memoryHeld());
        measureAt += MEASURE_EVERY_BYTES;
      }
      request.end();
      const lines = (await responded).trim().split('\n');
      return { events: lines.map((line) => JSON.parse(line)), sent, grown: peak - start };
    };

    test('an import of more than 64 MiB is stopped at the limit', async (t) => {
      const key = await newKey('intake:write');
      const records = Array.from({ length: 2_400 }, (_, index) => token({ tokenId: String(1_000 + index) }));
      /** Yields the records with blank lines between them. So the size limit is reached after some of the records. */
      function* sparse() {
        for (const record of records) {
          yield Buffer.from(toNdjson([record]));
          yield blankLine;
        }
      }
      const { events, sent, grown } = await stream(key, sparse());
      t.diagnostic(`memory grew by ${(grown / MEGABYTE).toFixed(1)} MB`);
      const { event, message, summary } = events.at(-1);
      assert.equal(event, 'error');
      assert.ok(sent > RECORDS_BYTES_MAX, `the stream was rejected after only ${sent} bytes`);
      assert.match(message, /^stopped after \d+ rows were stored: the body is larger than 67108864 bytes$/);
      assert.ok(
        summary.inserted > 0 && summary.inserted < records.length,
        `${summary.inserted} of ${records.length} records were stored`,
      );
      assert.ok(grown < HELD_MAX, `memory grew by ${grown} bytes`);

      const again = await stream(key, [Buffer.from(toNdjson(records))]);
      const { inserted, unchanged, refused } = again.events.at(-1);
      assert.deepEqual([unchanged, inserted, refused], [summary.inserted, records.length - summary.inserted, 0]);
    });

    test('a stream may have up to 64 MiB', async () => {
      const key = await newKey('intake:write');
      const record = Buffer.from(toNdjson([token({ tokenId: '5000' })]));
      const blank = Buffer.alloc(RECORDS_BYTES_MAX - record.length, blankLine);
      const { events } = await stream(key, [blank, record]);
      assert.deepEqual([events.at(-1).event, events.at(-1).inserted], ['done', 1]);
      const tooLong = await stream(key, [blank, record, Buffer.from('\n')]);
      assert.deepEqual([tooLong.events.at(-1).event, tooLong.events.at(-1).summary.read], ['error', 0]);
    });

    test('a body that names a length above 64 MiB is rejected before it is read', async () => {
      const key = await newKey('intake:write');
      const headers = { authorization: `Bearer ${key}`, 'content-length': RECORDS_BYTES_MAX + 1 };
      const request = http.request(`${service.url}/intake/v1/records`, { method: 'POST', headers, agent: false });
      request.on('error', () => undefined).flushHeaders();
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      assert.equal(response.statusCode, 400);
      request.destroy();
    });

    test('a body far above 64 MiB is not read to its end', async () => {
      const key = await newKey('intake:write');
      const headers = { authorization: `Bearer ${key}` };
      const request = http.request(`${service.url}/intake/v1/records`, { method: 'POST', headers, agent: false });
      const closed = new Promise<void>((resolve) => request.once('close', resolve));
      request.on('error', () => undefined).on('response', (response) => response.resume());
      let sent = 0;
      while (sent < 8 * RECORDS_BYTES_MAX && !request.destroyed) {
        sent += blankLine.length;
        if (!request.write(blankLine)) await Promise.race([once(request, 'drain').catch(() => undefined), closed]);
      }
      request.destroy();
      assert.ok(sent < 2 * RECORDS_BYTES_MAX, `${sent} bytes were read`);
    });
  });
});
