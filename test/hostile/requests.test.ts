// Sends malformed, unusual and ambiguous requests. Each request gets exactly one response, and the responses have the order of the requests.
// Errors have the error envelope. Unknown headers and bodies do not change the response of a path.

import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { describe, test } from 'node:test';
import { assertErrorEnvelope } from '../support/http/error-envelope.ts';
import type { RawResponse } from '../support/http/raw-http.ts';
import { exchange, request } from '../support/http/raw-http.ts';
import { useSampleService } from '../support/service/sample-service.ts';

const FLOOR = '/v1/collections/harbour-lights/floor';
const KNOWN = ['/v1', '/v1/openapi.json', '/v1/collections', '/v1/collections/harbour-lights', FLOOR];
const LISTS = ['/v1/collections/harbour-lights/listings', '/v1/collections/harbour-lights/sales'];
const TOKEN = `/v1/tokens/ethereum/0x${'1'.repeat(40)}/1`;

describe('hostile requests', () => {
  const service = useSampleService();
  const send = (target: string, options?: Parameters<typeof request>[2]) => request(service.url, target, options);
  /** Sends the bytes, and returns the response. Fails unless the server sends exactly one response and then closes the connection. */
  const only = async (bytes: string): Promise<RawResponse> => {
    const { answers, closedBy } = await exchange(service.url, bytes);
    assert.equal(answers.length, 1, JSON.stringify(bytes.slice(0, 200)));
    assert.equal(closedBy, 'server');
    return answers[0] ?? assert.fail();
  };

  test('bytes that are not HTTP get one response: a 400 in the error envelope', async () => {
    const lines = [
      'hello|GET|GET /v1| GET /v1 HTTP/1.1|GET /v1 HTTP/1.1 x|GET /v1 HTTP/9.9|GET /v1 HTTP/1.2|GET /v1 HTCPCP/1.0|{"a":1}',
      'get /v1 HTTP/1.1|FOO /v1 HTTP/1.1|G\0T /v1 HTTP/1.1|\x16\x03\x01\x02|PRI * HTTP/2.0|GET\t/v1\tHTTP/1.1|HTTP/1.1 200 OK',
      '<policy-file-request/>|\xe9 /v1 HTTP/1.1',
    ].flatMap((some) => some.split('|'));
    for (const line of lines) {
      assertErrorEnvelope(await only(`${line}\r\nHost: a\r\nConnection: close\r\n\r\n`), 400, line);
    }
    const headers = 'Host : a|X|: x|X Y: z|X: \0|X: a\r\n b|X: a\rb|X: a\nY: b|\xe9: x|"x": y|X\0: y'.split('|');
    for (const header of headers)
      assertErrorEnvelope(await only(`GET /v1 HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`), 400, header);
    assertErrorEnvelope(await only('GET /v1 HTTP/1.1\nHost: a\n\n'), 400, 'bare line feeds');
  });

  test('a body with an ambiguous length is rejected, and the bytes after it are not read as a request', async () => {
    const inner = 'GET /v1/collections HTTP/1.1\r\nHost: a\r\n\r\n';
    const lengths = '+5|-5|0x5| 5x|5;|99999999999999999999|1e1||\xd9\xa5|5, 6|5\r\nContent-Length: 6'.split('|');
    const codings =
      'identity|gzip|gzip, chunked|chunked, identity|xchunked|chunked;q=1|chunked\r\nContent-Length: 5'.split('|');
    const framings = [
      ...lengths.map((length) => `Content-Length: ${length}`),
      ...codings.map((coding) => `Transfer-Encoding: ${coding}`),
    ];
    for (const method of ['GET', 'POST']) {
      for (const framing of framings) {
        const { answers } = await exchange(
          service.url,
          `${method} /v1 HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n0\r\n\r\n${inner}`,
        );
        assert.ok(answers.length === 1, `${framing} got ${answers.length} responses`);
        assertErrorEnvelope(answers[0] ?? assert.fail(), 400, `${method} ${framing}`);
      }
      for (const size of ['zz', '-1', '5 ', '0x1', '', 'FFFFFFFFFFFFFFFFF', '5;\n']) {
        const { answers } = await exchange(
          service.url,
          `${method} /v1/nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\nhello\r\n0\r\n\r\n${inner}`,
          { answers: 2, limitMs: 60_000 },
        );
        assert.ok(answers.length === 1, `a chunk of ${size} got ${answers.length} responses`);
        assertErrorEnvelope(answers[0] ?? assert.fail(), [400, 404], `chunk of ${JSON.stringify(size)}`);
      }
    }
  });

  test('headers of more than 16 kB in total are rejected with 431', async () => {
    const headers = [
      `X: ${'a'.repeat(16_384)}`,
      'a:b\r\n'.repeat(3_300).trim(),
      `Cookie: ${'a=b; '.repeat(20_000)}c=d`,
    ];
    for (const header of headers) {
      assertErrorEnvelope(await only(`GET /v1 HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`), 431, header);
    }
    assertErrorEnvelope(
      await only(`GET /v1 HTTP/1.1\r\nHost: a\r\n${'x'.repeat(200_000)}: y\r\n\r\n`),
      [400, 431],
      'a long name',
    );
    assert.equal((await send('/v1', { headers: { x: 'a'.repeat(15_000) } })).status, 200);
  });

  test('an HTTP/1.1 request needs exactly one well-formed Host header', async () => {
    const malformed = ['a b', 'a/b', 'a@b', 'a, b', '<script>', '"a"', 'a\\b', '\xff', 'a?b', 'a#b'];
    const bad = [
      '',
      'Host: a\r\nHost: a\r\n',
      'Host: a\r\nhOST: b\r\n',
      ...malformed.map((host) => `Host: ${host}\r\n`),
    ];
    for (const host of bad) {
      for (const path of ['/v1', '/docs', '/v1/nowhere']) {
        assertErrorEnvelope(await only(`GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`), 400, host);
      }
    }
    for (const host of 'a||a:1|[::1]:8080|xn--bcher-kva.example|a_b.example|A.EXAMPLE:|127.0.0.1'.split('|')) {
      const response = await only(`GET /v1 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      assert.equal(response.status, 200, host);
    }
    for (const path of ['/v1', '/docs']) assert.equal((await only(`GET ${path} HTTP/1.0\r\n\r\n`)).status, 200);
    assertErrorEnvelope(await only('GET /v1/nowhere HTTP/1.0\r\n\r\n'), 404, 'HTTP/1.0');
    assertErrorEnvelope(
      await only('GET /v1 HTTP/2.0\r\nHost: a\r\nConnection: close\r\n\r\n'),
      400,
      'HTTP/2.0 in text',
    );
  });

  test('a method other than GET, HEAD and OPTIONS gets 405 on a known path and 404 on an unknown path', async () => {
    const others = METHODS.filter((method) => !['GET', 'HEAD', 'OPTIONS', 'CONNECT'].includes(method));
    assert.ok(others.length > 25);
    for (const method of others) {
      for (const path of [...KNOWN, ...LISTS, TOKEN, '/v1/collections/', '/docs', `${FLOOR}?limit=x`]) {
        const response = await send(path, { method });
        assertErrorEnvelope(response, 405, `${method} ${path}`);
        assert.equal(response.headers['allow'], 'GET, HEAD, OPTIONS');
      }
      assertErrorEnvelope(await send('/v1/nowhere', { method }), 404, method);
      for (const type of ['application/json', 'text/plain', ';;', 'multipart/form-data']) {
        const response = await send('/v1/collections', { method, headers: { 'content-type': type }, body: '{"a":' });
        assertErrorEnvelope(response, 405, `${method} with a body`);
      }
    }
    assertErrorEnvelope(await only('CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n'), 405, 'CONNECT');
  });

  test('HEAD gets the response of GET without the body', async () => {
    const bad = '/v1/collections?limit=0 /v1/collections/%ff /v1/collections/none /v1/nowhere / /docs/none'.split(' ');
    for (const target of [...KNOWN, ...LISTS, TOKEN, ...bad, '/docs', '/docs/', '/docs/reference.js', 'http://a/v1']) {
      const [head, get] = [await send(target, { method: 'HEAD' }), await send(target)];
      assert.equal(head.body, '');
      assert.equal(head.status, get.status, target);
      const { date: _head, 'x-request-id': _headId, ...headHeaders } = head.headers;
      const { date: _get, 'x-request-id': _getId, ...getHeaders } = get.headers;
      assert.deepEqual(headHeaders, getHeaders, target);
    }
  });

  test('a body on a GET is neither used nor read as the next request', async () => {
    const plain = await send('/v1/collections?limit=2');
    const inner = 'DELETE /v1/collections HTTP/1.1\r\nHost: a\r\n\r\n';
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', '']) {
      for (const body of ['{"limit":0}', '{', 'limit=0', inner, '\0'.repeat(70_000)]) {
        const header = `Host: a\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
        const { answers } = await exchange(
          service.url,
          `GET /v1/collections?limit=2 HTTP/1.1\r\n${header}${body}GET /v1/nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
        );
        assert.deepEqual(
          answers.map(({ status }) => status),
          [200, 404],
        );
        assert.equal(answers[0]?.body, plain.body);
      }
    }
  });

  test('a request with an Expect header gets its response, whatever the value of the header', async () => {
    for (const expected of ['100-continue', '100-CONTINUE', '200-ok', '', 'x'.repeat(1_000)]) {
      const response = await send('/v1/collections?limit=1', { headers: { expect: expected }, body: 'ab' });
      assert.equal(response.status, 200, expected);
    }
  });

  test('pipelined requests get their responses in order, even before a malformed request', async () => {
    const targets = [
      '/v1/collections?limit=3',
      '/v1/nowhere',
      `${LISTS[1]}?limit=1`,
      '/v1',
      '/v1/%ff',
      `${LISTS[0]}?limit=100`,
    ];
    const many = Array.from({ length: 60 }, (_, index) => targets[index % targets.length] ?? '');
    const sent = many.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');
    const expected = await Promise.all(many.map(async (target) => (await send(target)).body));
    for (const broken of [
      'garbage\r\n\r\n',
      `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`,
      'GET /v1 HTTP/1.1\r\nHost : a\r\n\r\n',
    ]) {
      for (const count of [1, 2, many.length]) {
        const before = many.slice(0, count);
        const bytes = sent
          .split(/(?=GET )/)
          .slice(0, count)
          .join('');
        const { answers, closedBy } = await exchange(service.url, `${bytes}${broken}`);
        assert.equal(closedBy, 'server');
        assert.deepEqual(
          answers.slice(0, -1).map(({ body }) => body),
          expected.slice(0, before.length),
        );
        assertErrorEnvelope(answers.at(-1) ?? assert.fail(), [400, 431], broken);
      }
    }
  });

  test('a request for an upgrade gets an ordinary response', async () => {
    for (const protocol of ['websocket', 'h2c', 'TLS/1.0', 'x'.repeat(1_000)]) {
      const headers = { connection: 'close, upgrade', upgrade: protocol, 'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA' };
      assert.equal((await send('/v1/collections?limit=1', { headers })).status, 200, protocol);
    }
  });

  test('the response is a 304 exactly when If-None-Match contains the ETag or is a star', async () => {
    for (const target of ['/v1/collections?limit=2', '/v1', FLOOR]) {
      const { headers, body } = await send(target);
      const etag = headers['etag'] ?? assert.fail();
      const opaque = etag.replace(/^W\//, '');
      const holding = [
        etag,
        opaque,
        '*',
        ' * ',
        `"a", ${etag}`,
        `${etag},`,
        `,,${etag},,`,
        `W/"x",${opaque}\t, "y"`,
        `"${'a'.repeat(9_000)}", ${etag}`,
      ];
      for (const held of holding) {
        const response = await send(target, { headers: { 'if-none-match': held } });
        assert.equal(response.status, 304, held);
        assert.equal(response.headers['etag'], etag);
        assert.equal(response.headers['cache-control'], headers['cache-control']);
      }
      const inner = opaque.slice(1, -1);
      const others = [
        '',
        '""',
        '"',
        'W/',
        inner,
        `w/${opaque}`,
        `"${inner.toLowerCase()}x"`,
        `W/"${inner}`,
        '**',
        '"*"',
        `${opaque}x`,
        '\xff',
        ','.repeat(9_000),
      ];
      for (const held of others) {
        const response = await send(target, { headers: { 'if-none-match': held } });
        assert.equal(response.status, 200, held);
        assert.equal(response.body.length, body.length);
      }
    }
    assertErrorEnvelope(
      await send('/v1/collections/none', { headers: { 'if-none-match': '*' } }),
      404,
      'nothing there',
    );
    assertErrorEnvelope(
      await send('/v1/collections?limit=0', { headers: { 'if-none-match': '*' } }),
      400,
      'a bad request',
    );
  });

  test('headers by which other servers change the method, URL, host or format have no effect', async () => {
    const plain = await send('/v1/collections?limit=2');
    const headers = {
      'x-http-method-override': 'DELETE',
      'x-method-override': 'POST',
      'x-original-url': '/v1/nowhere',
      'x-rewrite-url': '/v1/nowhere',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'javascript',
      'x-forwarded-for': "'; drop table main.collection; --",
      forwarded: 'for="[::1]"',
      accept: 'text/html, image/*;q=9',
      'accept-encoding': 'br;q=x, *',
      'accept-language': '../../etc/passwd',
      'accept-version': '9',
      origin: 'null',
      range: 'bytes=0-1',
      'if-match': '"x"',
      'if-modified-since': 'Tue, 01 Jan 2999 00:00:00 GMT',
      'if-range': '"x"',
      authorization: 'Bearer x',
      cookie: '__proto__=1',
      'content-type': 'application/json',
      te: 'trailers',
      __proto__: 'x',
      constructor: 'x',
    };
    for (const [name, value] of Object.entries(headers)) {
      const response = await send('/v1/collections?limit=2', { headers: { [name]: value } });
      assert.equal(response.status, 200, name);
      assert.equal(response.body, plain.body);
      assert.deepEqual(Object.keys(response.headers).toSorted(), Object.keys(plain.headers).toSorted(), name);
    }
  });
});
