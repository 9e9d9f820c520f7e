// GET /explore/v1/images/{collectionId}/{name}, and which images have such a URL.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { INLINE_IMAGE_BYTES_MAX, parseInlineImage } from '../../../src/platform/core/image-url.ts';
import { forOneMarket, mintOf, newCollection } from '../../support/service/market.ts';

const PNG = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(3_000, 7)]);
const SVG = `<svg xmlns='http://www.w3.org/2000/svg' width='100%'><script>alert(1)</script><text>é${'x'.repeat(3_000)}</text></svg>`;
const pngUrl = `data:image/png;base64,${PNG.toString('base64')}`;
const svgUrl = `data:image/svg+xml;utf8,${SVG}`;

describe('an inline image', () => {
  const textOf = (url: string) => parseInlineImage(url)?.bytes.toString();

  test('is decoded as browsers do, from base64, percent-encoded or as it stands', () => {
    assert.deepEqual(parseInlineImage(pngUrl), { type: 'image/png', bytes: PNG });
    assert.deepEqual(parseInlineImage(svgUrl), { type: 'image/svg+xml', bytes: Buffer.from(SVG) });
    assert.equal(textOf(`data:image/svg+xml,${encodeURIComponent(SVG)}`), SVG);
    assert.equal(textOf('DATA:IMAGE/SVG+XML;charset=utf-8; base64 ,PHN2Zz4%3D'), '<svg>');
    assert.equal(textOf('data:image/svg+xml,a,b%2cc%zz%4'), 'a,b,c%zz%4');
  });

  test('of another type, without content or without a type is none', () => {
    for (const url of [
      'data:text/html,x',
      'data:image/png',
      'data:image/,x',
      'data:,x',
      'https://a.example/1.png',
      'data:image/a\r\nb,x',
    ])
      assert.equal(parseInlineImage(url), null, url);
  });
});

forOneMarket('images', {}, (market) => {
  const get = (path: string, init: RequestInit = {}) => fetch(new URL(path, market.url), init);

  test('the URL in a row has the image with its type, and no script of it can run', async () => {
    const [subject, solana] = [newCollection(), newCollection({ chain: 'solana' })];
    const mint = mintOf('drawn');
    await market.load([
      subject.collection({ image: pngUrl, banner: svgUrl }),
      subject.token('1', { name: 'First', image: svgUrl }),
      solana.collection(),
      solana.token(mint, { image: pngUrl }),
    ]);
    const [token] = (await market.ok(`/explore/v1/collections/${subject.id}/tokens`)).data;
    const [minted] = (await market.ok(`/explore/v1/collections/${solana.id}/tokens`)).data;
    const collection = (await market.ok(`/explore/v1/collections/${subject.slug}`)).data;
    const expected: [url: string, type: string, bytes: Buffer][] = [
      [token.image, 'image/svg+xml', Buffer.from(SVG)],
      [minted.image, 'image/png', PNG],
      [collection.image, 'image/png', PNG],
      [collection.banner, 'image/svg+xml', Buffer.from(SVG)],
    ];
    for (const [url, type, bytes] of expected) {
      const response = await get(url);
      const header = (name: string) => response.headers.get(name);
      assert.deepEqual([response.status, header('content-type')], [200, type], url);
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
      const policy = (header('content-security-policy') ?? '').split('; ');
      assert.ok(
        policy.includes("default-src 'none'") && policy.includes('sandbox'),
        `${header('content-security-policy')}`,
      );
      assert.ok(policy.every((part) => !part.startsWith('script-src')));
      assert.equal(header('x-content-type-options'), 'nosniff');
      assert.match(header('cache-control') ?? '', /^public, max-age=3600, /);
      assert.equal(header('access-control-allow-origin'), '*');
      const again = await get(url, { headers: { 'if-none-match': header('etag') ?? '' } });
      assert.deepEqual([again.status, again.headers.get('content-security-policy')?.includes('sandbox')], [304, true]);
    }
  });

  test('an inline image of at most 2,048 bytes stands in the row, and a larger one has a URL, also in activity', async () => {
    const subject = newCollection();
    const ofSize = (bytes: number) => 'data:image/png;base64,'.padEnd(bytes, 'A');
    const small = ofSize(INLINE_IMAGE_BYTES_MAX);
    await market.load([
      subject.collection(),
      subject.token('1', { image: small }),
      subject.token('2', { image: ofSize(INLINE_IMAGE_BYTES_MAX + 1) }),
      subject.token('3', { image: 'https://pictures.example/3.png' }),
      subject.token('4', { image: `https://pictures.example/${'x'.repeat(9_000)}` }),
      subject.token('5', { image: 'data:text/html,<script>'.padEnd(9_000, 'x') }),
      ...['1', '2'].map((token) => subject.sale(token, 5, { timestamp: market.ago(24 * 3_600_000) })),
    ]);
    const url = `${market.url}/explore/v1/images/${subject.id}/2`;
    const imagesOf = async (path: string) =>
      Object.fromEntries((await market.ok(path)).data.map(({ tokenId, image }: any) => [tokenId, image]));
    assert.deepEqual(await imagesOf(`/explore/v1/collections/${subject.id}/tokens`), {
      1: small,
      2: url,
      3: 'https://pictures.example/3.png',
      4: null,
      5: null,
    });
    const sales = `/explore/v1/activity?collection=${subject.id}&kinds=sale&include=token`;
    assert.deepEqual(await imagesOf(sales), { 1: small, 2: url });
  });

  test('what is not an inline image is a 404: an image of another host, a burned token, and any other name', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection({ image: 'https://pictures.example/a.png' }),
      subject.token('1', { image: 'https://pictures.example/1.png' }),
      subject.token('2', { image: 'data:text/html;base64,PGI+' }),
    ]);
    const names = ['image', 'banner', '1', '2', '3', 'name', '%00', '1%2F2', 'x'.repeat(200)];
    const paths = [
      ...names.map((name) => `${subject.id}/${name}`),
      'nothing/image',
      'ethereum_0x12/1',
      `ethereum_${'9'.repeat(600)}/1`,
      '%00/1',
    ];
    for (const path of paths) {
      const { status, body } = await market.get(`/explore/v1/images/${path}`);
      assert.deepEqual([status, body.error?.code], [404, 'not_found'], path);
    }
  });
});
