// An invalid query parameter is rejected with a message that names the parameter. It is never clamped or coerced. Unknown
// parameters are ignored. Only cursors that the service issued are accepted.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { measureCpuMs } from '../support/measure/cost.ts';
import { assertErrorEnvelope } from '../support/http/error-envelope.ts';
import type { RawResponse } from '../support/http/raw-http.ts';
import { request } from '../support/http/raw-http.ts';
import { useSampleService } from '../support/service/sample-service.ts';

const LISTINGS = '/v1/collections/harbour-lights/listings';
const SALES = '/v1/collections/harbour-lights/sales';
const LISTS = ['/v1/collections', LISTINGS, SALES];

/** Percent-encoded texts that are not integers from 1 to 100. */
const BAD_LIMITS = [
  '0 101 -1 -0 00 01 025 1.5 1.0 5. .5 1e1 1E1 0x10 0b1 0o7 1_0 +5 %2B5 %205 5%20 5%0a %095 5%00 %ff % %5 1,5 1%2C5 5; [5]',
  '9007199254740993 18446744073709551617 %D9%A1%D9%A0 %EF%BC%91 %E2%91%A0 %C2%B2 NaN Infinity -Infinity null undefined',
  'true five %F0%9F%90%99 __proto__ {} %225%22 5%20OR%201=1',
  '1'.repeat(5_000),
].flatMap((line) => line.split(' '));
const BAD_CHAINS = [
  'Ethereum ETHEREUM eth 1 ethereum%20 %20ethereum ethereum,base all * null __proto__ constructor toString %00 %ff',
  "ethereum%00 %65thereum%0a '%20or%20''='",
  'x'.repeat(9_000),
].flatMap((line) => line.split(' '));
const BAD_SORTS = "Volume volume%20 price -volume volume,floor 1 __proto__ %ff volume';--".split(' ');
const UNKNOWN = [
  "x=1 LIMIT=0 Limit=x limit[]=0 limit%5B%5D=0 limit.x=0 %20limit=0 limit%00=0 offset=-1 cb=1783 _=1 sort;=x '--",
  '__proto__=1 __proto__[limit]=0 constructor.prototype.limit=0 toString=1 hasOwnProperty = &&& %ff=%ff % x=% <script>',
  '%E2%80%AE=%00 utm_source=a&utm_source=b',
].flatMap((line) => line.split(' '));

describe('invalid parameters', () => {
  const service = useSampleService();
  const send = (target: string) => request(service.url, target);
  describe('invalid parameters of a query', () => onQueries(send));
  describe('invalid cursors', () => onCursors(send));
});

type Send = (target: string) => Promise<RawResponse>;

function onQueries(send: Send): void {
  const assertRejected = async (path: string, query: string, name: string) => {
    const response = await send(`${path}?${query}`);
    assertErrorEnvelope(response, 400, query);
    assert.match(response.body, new RegExp(`\\b${name}\\b`), 'the message does not name the parameter');
  };

  test('on every list, a limit that is not an integer from 1 to 100 is rejected with a message that names the parameter', async () => {
    for (const path of LISTS) for (const limit of BAD_LIMITS) await assertRejected(path, `limit=${limit}`, 'limit');
    for (const limit of ['1', '100', '%31', '1&']) {
      assert.equal((await send(`${LISTINGS}?limit=${limit}`)).status, 200, limit);
    }
  });

  test('a chain or sort that is not exactly an allowed value is rejected with a message that names the parameter', async () => {
    for (const chain of BAD_CHAINS) await assertRejected('/v1/collections', `chain=${chain}`, 'chain');
    for (const sort of BAD_SORTS) await assertRejected('/v1/collections', `sort=${sort}`, 'sort');
    for (const chain of BAD_CHAINS) {
      assertErrorEnvelope(await send(`/v1/tokens/${chain.replaceAll('%ff', 'z')}/0x${'1'.repeat(40)}/1`), 400, chain);
    }
  });

  test('a known parameter that is repeated or empty is rejected with a message that names the parameter', async () => {
    const validValues = { limit: '5', chain: 'base', sort: 'floor', cursor: 'x' };
    for (const [name, value] of Object.entries(validValues)) {
      const known = name === 'limit' || name === 'cursor' ? LISTS : ['/v1/collections'];
      for (const path of known) {
        const again = `${name}=${value}`;
        await assertRejected(path, `${again}&${again}`, name);
        await assertRejected(path, `${again}&x=1&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=${value}`, name);
        for (const empty of [name, `${name}=`, `${name}=&x=1`, `&&${name}`]) await assertRejected(path, empty, name);
      }
    }
  });

  test('an invalid value of a known parameter is rejected even after thousands of other parameters', async () => {
    for (const path of LISTS) await assertRejected(path, `${'a&'.repeat(5_000)}limit=0`, 'limit');
    await assertRejected(LISTINGS, `limit=1&${'=&'.repeat(5_000)}limit=1`, 'limit');
  });

  test('query parameters that are not in the OpenAPI document are ignored', async () => {
    for (const path of [...LISTS, '/v1', '/v1/collections/harbour-lights', '/v1/openapi.json']) {
      const plain = await send(path);
      assert.equal(plain.status, 200);
      for (const query of [...UNKNOWN, UNKNOWN.join('&'), 'y=1&'.repeat(3_500)]) {
        const response = await send(`${path}?${query}`);
        assert.equal(
          response.status,
          200,
          `${path}?${query.slice(0, 200)} was rejected: ${response.body.slice(0, 200)}`,
        );
        assert.equal(response.headers['etag'], plain.headers['etag']);
        assert.equal(response.body, plain.body);
      }
    }
  });

  test('rejecting one of the longest queries takes less than 25 ms of CPU time', async () => {
    const queries = [
      'a&'.repeat(7_500),
      '%ff&'.repeat(3_900),
      'limit=1&'.repeat(1_950),
      `cursor=${'A'.repeat(15_900)}`,
    ];
    const cpuMs = await measureCpuMs(async () => {
      for (let round = 0; round < 10; round += 1)
        for (const query of queries) await send(`${LISTINGS}?limit=0&${query}`);
    });
    assert.ok(cpuMs / 10 / queries.length < 25, `all queries together took ${cpuMs} ms`);
  });
}

function onCursors(send: Send): void {
  /** Paths and queries of pages that have a next page. */
  const pages = [
    ...['volume', 'floor', 'recent'].map((sort) => `/v1/collections?sort=${sort}&limit=2`),
    '/v1/collections?limit=2',
    '/v1/collections?chain=base&sort=floor&limit=1',
    '/v1/collections?chain=ethereum&sort=floor&limit=1',
    `${LISTINGS}?limit=2`,
    `${SALES}?limit=2`,
    '/v1/collections/rockpool-wanderers/listings?limit=2',
    '/v1/collections/rockpool-wanderers/sales?limit=2',
  ];
  const cursors = new Map<string, string>();

  before(async () => {
    for (const page of pages) {
      const { pagination } = JSON.parse((await send(page)).body) as { pagination: { nextCursor: string | null } };
      cursors.set(page, pagination.nextCursor ?? assert.fail(`${page} has no next page`));
    }
  });

  const assertCursorRejected = async (page: string, cursor: string, what: string) => {
    const response = await send(`${page}&cursor=${encodeURIComponent(cursor)}`);
    assertErrorEnvelope(response, 400, `${page}, ${what}: ${cursor}`);
    assert.match(response.body, /\bcursor\b/);
  };

  test('an issued cursor is accepted, even with another limit', async () => {
    for (const [page, cursor] of cursors) {
      assert.equal((await send(`${page}&cursor=${cursor}`)).status, 200, page);
      assert.equal((await send(`${page.replace(/limit=\d/, 'limit=100')}&cursor=${cursor}`)).status, 200, page);
    }
  });

  test('a cursor of another list, collection, chain or sort is rejected', async () => {
    // A request with `sort=volume` and a request without `sort` read the same list. A cursor of one is valid for the other.
    const nameOf = (page: string) => page.replace('sort=volume&', '');
    for (const page of pages) {
      for (const [other, cursor] of cursors)
        if (nameOf(other) !== nameOf(page)) await assertCursorRejected(page, cursor, `of ${other}`);
    }
  });

  test('a cursor with any character changed is rejected', async () => {
    for (const [page, cursor] of cursors) {
      for (let index = 0; index < cursor.length; index += 1) {
        const letter = cursor[index] === 'A' ? 'B' : 'A';
        await assertCursorRejected(
          page,
          `${cursor.slice(0, index)}${letter}${cursor.slice(index + 1)}`,
          `changed at ${index}`,
        );
      }
    }
  });

  test('a cursor that is truncated, extended, padded or in another base64 alphabet is rejected', async () => {
    for (const [page, cursor] of cursors) {
      for (const cut of [1, 2, 4, 16, cursor.length - 22, cursor.length - 1]) {
        await assertCursorRejected(page, cursor.slice(0, cursor.length - cut), `cut by ${cut}`);
        await assertCursorRejected(page, cursor.slice(cut), `begun at ${cut}`);
      }
      for (const tail of ['A', 'AAAA', '=', '==', '====', '.', ' ', '\n', '\0', '%', '-', `&${cursor}`, cursor, 'é']) {
        await assertCursorRejected(page, `${cursor}${tail}`, 'extended');
        await assertCursorRejected(page, `${tail}${cursor}`, 'preceded');
      }
      await assertCursorRejected(page, `${cursor.slice(0, 5)}\n${cursor.slice(5)}`, 'broken');
      const standard = Buffer.from(cursor, 'base64url').toString('base64');
      if (standard !== cursor) await assertCursorRejected(page, standard, 'standard base64');
      for (const twin of twinsOf(cursor)) await assertCursorRejected(page, twin, 'other unused bits');
    }
  });

  test('a cursor that the service did not issue is rejected', async () => {
    const payloads = ['0', '25', '250', '251', '-1', '1e3', '{"offset":25}', '[true,0,"x"]', '1780000000000 a', ''];
    const built = payloads.flatMap((payload) => [
      payload,
      Buffer.from(payload).toString('base64url'),
      Buffer.concat([Buffer.alloc(16), Buffer.from(payload)]).toString('base64url'),
    ]);
    const odd = [
      'null',
      'undefined',
      '__proto__',
      'A'.repeat(1_000),
      'A'.repeat(1_001),
      'A'.repeat(9_000),
      '🐙',
      '\u202e',
    ];
    for (const page of pages)
      for (const cursor of [...built, ...odd]) await assertCursorRejected(page, cursor, 'hand-built');
  });

  test('random text is rejected as a cursor', async () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...pages), texts, (page, text) =>
        assertCursorRejected(page, text.toWellFormed(), 'random'),
      ),
      { seed: 1, numRuns: 300 },
    );
  });
}

/**
 * Returns other texts that a lenient base64 decoder decodes to the same bytes. They differ from the cursor in the unused bits of
 * the last character.
 */
function twinsOf(cursor: string): string[] {
  const bytes = Buffer.from(cursor, 'base64url');
  const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
  return letters
    .map((letter) => `${cursor.slice(0, -1)}${letter}`)
    .filter((twin) => twin !== cursor && Buffer.from(twin, 'base64url').equals(bytes));
}
