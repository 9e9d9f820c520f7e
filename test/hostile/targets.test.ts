// Unusual request targets. Each is read as the path that it denotes, or rejected with the error envelope. Rate limits, caches and
// routes use the same normalized form.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseRequestTarget } from '../../src/platform/http/request-target.ts';
import { measureCpuMs } from '../support/measure/cost.ts';
import { assertErrorEnvelope } from '../support/http/error-envelope.ts';
import { exchange, request } from '../support/http/raw-http.ts';
import { routeTableOf } from '../support/http/route-table.ts';
import { useSampleService } from '../support/service/sample-service.ts';

const COLLECTION = '/v1/collections/harbour-lights';

describe('request targets', () => {
  const service = useSampleService();
  const send = (target: string) => request(service.url, target);

  test('percent-encoding that does not decode to UTF-8 is rejected with 400', async () => {
    const parts = ['%', '%zz', '%2', '%C0%80', '%ff', '%ED%A0%80', '%F4%90%80%80', '%c3', 'a%E2%82b', '%%35'];
    for (const part of parts) {
      for (const target of [`/v1/collections/${part}`, `/${part}`, `/v1/tokens/ethereum/${part}/1`, `/docs/${part}`]) {
        assertErrorEnvelope(await send(target), 400, target);
      }
    }
  });

  test('a target that can be decoded but names no resource is a 404', async () => {
    const ids = '%00 a%00b %0d%0aX-Evil:%201 %F0%9F%90%99 %E2%80%AE %2e%2e%2f%2e%2e%2fetc%2fpasswd %25 . ..'.split(' ');
    const names = '__proto__ constructor toString hasOwnProperty [object%20Object] null undefined'.split(' ');
    for (const id of [...ids, ...names]) {
      for (const rest of ['', '/floor', '/listings', '/sales']) {
        const response = await send(`/v1/collections/${id}${rest}`);
        assertErrorEnvelope(response, 404, id);
        assert.equal(response.headers['x-evil'], undefined);
      }
    }
  });

  test('an id of nine thousand characters is rejected at little cost', async () => {
    for (const letter of ['a', '0', '%41', ':', '%F0%9F%90%99']) {
      const id = letter.repeat(9_000 / letter.length);
      const cpuMs = await measureCpuMs(async () => {
        assertErrorEnvelope(await send(`/v1/collections/${id}`), 404, 'a long slug');
        assertErrorEnvelope(await send(`/v1/collections/ethereum_0x${id}/listings`), 404, 'a long canonical id');
        assertErrorEnvelope(await send(`/v1/tokens/ethereum/0x${id}/1`), 400, 'a long address');
        assertErrorEnvelope(await send(`/v1/tokens/solana/${id}/${id.slice(0, 6_000)}`), 400, 'a long mint');
      });
      assert.ok(cpuMs < 200, `four requests took ${cpuMs} ms`);
    }
    assertErrorEnvelope(await send(`/v1/collections/${'a'.repeat(16_384)}`), 431, 'a target of more than 16 kB');
    assertErrorEnvelope(
      await send(`/v1/collections?limit=1&x=${'a'.repeat(16_384)}`),
      431,
      'a query of more than 16 kB',
    );
    assertErrorEnvelope(await send(`/${'a/'.repeat(60_000)}`), 431, 'a target of 120 kB');
  });

  test('control characters, and raw bytes outside ASCII, are rejected in the request line', async () => {
    for (const bytes of ['\xff\xfe', '\xc3\xa9', '\0', '\x01', '\x7f', '\t', ' ', '\xed\xa0\x80']) {
      for (const target of [`/v1/collections/a${bytes}b`, `/v1/collections?limit=1&x=a${bytes}b`]) {
        assertErrorEnvelope(await send(target), 400, JSON.stringify(target));
      }
    }
  });

  test('a target with a fragment is rejected, because request targets have none', async () => {
    for (const target of ['/v1#', '/v1/collections#x', `${COLLECTION}?limit=1#x`, '/v1/collections?#']) {
      assertErrorEnvelope(await send(target), 400, target);
    }
  });

  test('dot segments and doubled slashes are not resolved, whether encoded or not', async () => {
    const dots = '/v1/../v1 /v1/./collections /v1/%2e%2e/v1 /v1/%2e/collections /./v1 /../../etc/passwd'.split(' ');
    const doubled = '//v1/collections /v1//collections /v1/collections// /// /v1//'.split(' ');
    const others = '/v1%2fcollections /v1/collections;a=b /V1 /v1/Collections'.split(' ');
    for (const target of [...dots, ...doubled, ...others, `${COLLECTION}//floor`]) {
      assertErrorEnvelope(await send(target), 404, target);
    }
  });

  test('a slash at the end of a path does not change the response', async () => {
    for (const path of ['/v1', '/v1/collections', COLLECTION, `${COLLECTION}/listings`, `${COLLECTION}/sales`]) {
      const [plain, slashed] = [await send(`${path}?limit=2`), await send(`${path}/?limit=2`)];
      assert.equal(plain.status, 200);
      assert.deepEqual(slashed.body, plain.body);
      assert.equal(slashed.headers['etag'], plain.headers['etag']);
    }
  });

  test('an absolute target is read as its path, whatever its host', async () => {
    const plain = await send(`${COLLECTION}/listings?limit=2`);
    for (const authority of ['http://any.example', 'HTTPS://any.example:1', 'http://u:p@[::1]:8080', 'http://']) {
      const response = await send(`${authority}${COLLECTION}/listings?limit=2`);
      assert.equal(response.status, 200, authority);
      assert.equal(response.body, plain.body);
    }
    assertErrorEnvelope(await send('http://any.example/v1/collections?limit=0'), 400, 'absolute, bad parameter');
    const root = await send('/');
    for (const target of ['http://any.example', 'http://any.example?/v1']) {
      const response = await send(target);
      assert.deepEqual([response.status, response.body.length], [root.status, root.body.length], target);
    }
    for (const target of [
      'ftp://any.example/v1',
      'any.example:80',
      '*',
      'v1',
      '?',
      'http:/v1',
      'javascript:alert(1)',
    ]) {
      assertErrorEnvelope(await send(target), [400, 404], target);
    }
  });

  test('a line break in a target cannot add a header or a response', async () => {
    const { answers } = await exchange(service.url, 'GET /v1/x\r\nX-Evil: 1 HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.equal(answers.length, 1);
    assertErrorEnvelope(answers[0] ?? assert.fail(), 400, 'a broken request line');
    const echoed = await send('/docs/%0d%0aSet-Cookie:%20a=b/');
    assertErrorEnvelope(echoed, 404, 'an encoded line break');
    assert.equal(echoed.headers['set-cookie'], undefined);
  });
});

describe('the normalized target', () => {
  const plain = fc.constantFrom('/v1/collections', COLLECTION, `${COLLECTION}/listings`, `${COLLECTION}/sales`, '/v1');
  /** A path and another spelling of it. Some characters are percent-encoded, with hexadecimal digits in lower or upper case. */
  const respelt = plain.chain((path) =>
    fc
      .array(fc.constantFrom('as it is', 'lower', 'upper'), { minLength: path.length, maxLength: path.length })
      .map((ways) => ({
        path,
        spelling: path
          .split('')
          .map((letter, index) => {
            const hex = letter.charCodeAt(0).toString(16);
            if (letter === '/' || ways[index] === 'as it is') return letter;
            return `%${ways[index] === 'lower' ? hex : hex.toUpperCase()}`;
          })
          .join(''),
      })),
  );

  test('the normalized target is the same for every form of a path', () => {
    const prefixes = fc.constantFrom('', 'http://a', 'https://b:1', 'HTTP://c@d');
    fc.assert(
      fc.property(respelt, prefixes, ({ path, spelling }, prefix) => {
        assert.equal(parseRequestTarget(`${prefix}${spelling}?limit=1`), `${path}?limit=1`);
      }),
    );
  });

  test('the normalized target does not change when it is normalized again', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }), (parts) => {
        const wellFormed = parts.map((part) => part.toWellFormed());
        const target = parseRequestTarget(`/${wellFormed.map((part) => encodeURIComponent(part)).join('/')}`);
        assert.deepEqual(
          target?.slice(1).split('/').map(decodeURIComponent),
          wellFormed.length === 0 ? [''] : wellFormed,
        );
        assert.equal(parseRequestTarget(target), target);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
        const target = parseRequestTarget(text);
        if (target !== null) assert.equal(parseRequestTarget(target), target);
      }),
    );
  });

  test('the normalized target has the rate limit of the path, for every form of the path', () => {
    const routes = routeTableOf({
      'GET /v1': 'single',
      'GET /v1/collections': 'list',
      'GET /v1/collections/:id': 'single',
      'GET /v1/collections/:id/listings': 'list',
      'GET /v1/collections/:id/sales': 'list',
    });
    fc.assert(
      fc.property(respelt, fc.constantFrom('', '/'), ({ path, spelling }, slash) => {
        const expected = /(collections|listings|sales)$/.test(path) ? 'list' : 'single';
        assert.equal(routes.bucketOf('GET', `${parseRequestTarget(spelling)}${slash}`), expected);
      }),
    );
    const bucketOf = (path: string) => routes.bucketOf('GET', path);
    assert.equal(
      bucketOf('/v1/collections/listings'),
      'single',
      'the slug "listings" of a collection counts as a list',
    );
    assert.equal(bucketOf('/v1/collections/sales/sales'), 'list');
    assert.equal(bucketOf('/v1x/collections'), 'single');
  });
});
