// Compression: which content coding a client gets. The decoded response is the same in every coding. The header Vary makes shared caches
// store each coding separately.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import Fastify from 'fastify';
import { compressResponses } from '../../src/platform/http/compression.ts';
import { ENCODED_BYTES_MIN, EncodedBodies, chooseCoding } from '../../src/platform/http/content-coding.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

describe('the coding that a client gets', () => {
  for (const [header, coding] of [
    [undefined, null],
    ['', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip, zstd', 'zstd'],
    ['br;q=0.5, gzip;q=0.9', 'gzip'],
    ['BR ; q=1.000', 'br'],
    ['br;q=0, gzip;q=0.000', null],
    ['identity', null],
    ['identity, gzip;q=0.5', null],
    ['identity;q=0.5, gzip', 'gzip'],
    ['*', null],
    ['deflate, compress', null],
    ['br;q=2, gzip;q=x', null],
    [',,gzip,', 'gzip'],
  ] as const) {
    test(`the coding for ${JSON.stringify(header) ?? 'no header'} is ${coding ?? 'none'}`, () =>
      assert.equal(chooseCoding(header), coding));
  }

  test('the coding does not depend on the headers of earlier requests, however many there are', () => {
    for (let number = 0; number < 1_000; number += 1) assert.equal(chooseCoding(`gzip;q=0.${number}`) !== 'br', true);
    assert.equal(chooseCoding('gzip, br'), 'br');
  });
});

test('a body is encoded once in each coding, however many clients request the coding concurrently', async () => {
  const plain = Buffer.from('{"data":[]}'.repeat(1_000));
  const bodies = new EncodedBodies(plain);
  const all = await Promise.all(Array.from({ length: 100 }, async () => bodies.get('br')));
  assert.equal(new Set(all).size, 1);
  assert.equal(bodies.get('br'), all[0]);
  assert.notEqual(await bodies.get('gzip'), all[0]);
});

test('compression adds Accept-Encoding to a Vary header that the response already has', async () => {
  const app = Fastify();
  compressResponses(app);
  app.get('/', (_request, reply) => reply.header('vary', 'Origin').send({ data: 'x'.repeat(ENCODED_BYTES_MIN) }));
  const { headers } = await app.inject({ url: '/', headers: { 'accept-encoding': 'gzip' } });
  assert.deepEqual([headers['vary'], headers['content-encoding']], ['Origin, Accept-Encoding', 'gzip']);
});

const DECODERS = {
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
  gzip: gunzipSync,
  identity: (body: Buffer) => body,
} as const;

describe('responses', () => {
  let service: TestService;
  let key: string;
  before(async () => {
    service = await startTestService({ settings: { DATA_DIR: await directoryWithDatabase() } });
    await service.operate('shops.create', { name: 's' });
    const scopes = ['products:read', 'products:write', 'webhooks:write'];
    key = (await service.operate('keys.create', { shop: 's', scopes })).body.result.secret;
    for (let number = 0; number < 8; number += 1) await sendStore('/products', product(number));
  });
  after(async () => {
    await service.close();
    await cleanUp();
  });

  type Received = { status: number; headers: IncomingHttpHeaders; body: Buffer };
  type Options = { method?: string; headers?: Record<string, string>; body?: string };

  const send = (path: string, { method = 'GET', headers = {}, body }: Options = {}): Promise<Received> =>
    new Promise((resolve, reject) => {
      request(`${service.url}${path}`, { method, headers, agent: false }, (response) => {
        const { statusCode: status = 0 } = response;
        buffer(response).then((read) => resolve({ status, headers: response.headers, body: read }), reject);
      })
        .on('error', reject)
        .end(body);
    });

  const sendStore = (path: string, body: object, headers: Record<string, string> = {}) =>
    send(`/api/v1${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });

  const product = (number: number) => ({ name: `Mug ${number}`, price: '1', description: 'glazed '.repeat(200) });

  // The second and later responses of the first path come from the cache. The responses of the other paths are computed for each request.
  for (const path of ['/v1/openapi.json', '/intake/v1/openapi.json', '/api/v1/products'] as const) {
    test(`${path} has the same body and ETag in every coding`, async () => {
      const headers = { authorization: `Bearer ${key}` };
      const plain = await send(path, { headers });
      assert.equal(plain.headers['content-encoding'], undefined);
      for (const [coding, decode] of Object.entries(DECODERS)) {
        for (const round of [1, 2]) {
          const what = `${coding}, request ${round}`;
          const get = await send(path, { headers: { ...headers, 'accept-encoding': coding } });
          assert.equal(get.headers['content-encoding'] ?? 'identity', coding, what);
          assert.equal(get.headers['content-length'], String(get.body.length), what);
          assert.equal(decode(get.body).toString(), plain.body.toString(), what);
          assert.equal(get.headers['vary'], 'Accept-Encoding', what);
          assert.equal(get.headers['etag'], plain.headers['etag'], what);
          if (coding !== 'identity') assert.ok(get.body.length < plain.body.length / 2, what);
          const head = await send(path, { method: 'HEAD', headers: { ...headers, 'accept-encoding': coding } });
          const named = ({ date: _date, 'x-request-id': _id, ...rest }: IncomingHttpHeaders) => rest;
          assert.deepEqual([head.body.length, named(head.headers)], [0, named(get.headers)], what);
        }
      }
    });
  }

  test('a request with the ETag of a response in one coding gets a 304, whichever coding the request accepts', async () => {
    const { headers } = await send('/v1/openapi.json', { headers: { 'accept-encoding': 'br' } });
    for (const coding of ['br', 'gzip', 'identity']) {
      const conditional = { 'accept-encoding': coding, 'if-none-match': headers['etag'] ?? '' };
      const again = await send('/v1/openapi.json', { headers: conditional });
      assert.deepEqual([again.status, again.headers['vary'], again.body.length], [304, 'Accept-Encoding', 0]);
      assert.equal(again.headers['content-encoding'], undefined);
    }
  });

  test('a small body, an error, a response to POST and a single product are sent without compression', async () => {
    const accept = { 'accept-encoding': 'br, gzip, zstd' };
    const created = await sendStore('/products', product(99), accept);
    const small = await send('/v1', { headers: accept });
    const missing = await send(`/v1/collections/${'x'.repeat(2_000)}`, { headers: accept });
    assert.deepEqual([created.status, small.status, missing.status], [201, 200, 404]);
    assert.ok(created.body.length > 1_024);
    for (const { headers } of [created, small, missing]) assert.equal(headers['content-encoding'], undefined);
    const { id } = JSON.parse(created.body.toString()).data;
    const one = await send(`/api/v1/products/${id}`, { headers: { ...accept, authorization: `Bearer ${key}` } });
    // If-Match needs a strong ETag, which stands for exactly one sequence of bytes. So a single product has only one coding.
    assert.match(one.headers['etag'] ?? '', /^"/);
    assert.equal(one.headers['content-encoding'], undefined);
  });

  test('a response that contains the secret of a webhook is never compressed', async () => {
    const target = { url: `https://shop.example/${'x'.repeat(1_200)}`, events: ['product.created'] };
    const { data } = JSON.parse((await sendStore('/webhooks', target)).body.toString());
    const rotated = await sendStore(`/webhooks/${data.id}/rotate-secret`, {}, { 'accept-encoding': 'br, gzip, zstd' });
    assert.equal(rotated.status, 200);
    assert.match(rotated.body.toString(), /"secret":"whsec_/);
    assert.ok(rotated.body.length > 1_024);
    assert.equal(rotated.headers['content-encoding'], undefined);
  });
});
