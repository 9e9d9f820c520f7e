// Tests how the service serves the page and the files of the web console, and with which headers. `npm run test:browser` tests the console itself.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findConsole } from '../../src/server/console.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { request } from '../support/http/raw-http.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { mintOf, newCollection } from '../support/service/market.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** The HTML that a browser shows on the page of the market before the scripts have run. */
const FIRST_PAINT = '<!--first paint of the market--><h1>Market</h1>\n<!--end of the first paint-->';
const PAGE = `<!doctype html><base href="/" /><meta name="image-gateways" content="" /><title>Mercat</title><script type="module" src="./console/main-a1.js"></script><div>${FIRST_PAINT}</div>`;
/** The service is reached below the path of this URL. SERVED_PAGE is PAGE with this path in its `base` element. */
const BASE_URL = 'https://market.example/mercat';
const GATEWAY = 'https://gateway.example/a&b';
const SERVED_PAGE = PAGE.replace('href="/"', 'href="/mercat/"').replace(
  'content=""',
  'content="ipfs=https://gateway.example/a&#38;b"',
);
const HOSTILE = `A "name" <b> & $& \u202eof a stranger`;
const subject = newCollection({
  slug: 'harbour-lights',
  name: HOSTILE,
  description: 'Evenings.',
  image: 'ipfs://ipfs/Qm1/a.png',
});
const solana = newCollection({ chain: 'solana', slug: 'tide-pools' });
const MINT = mintOf('crab');
const TOKEN_PATH = `/t/ethereum/${subject.address}/249`;
const MARKET_PATHS = ['/', '/?chain=base'];
const SCRIPT = `document.title = "${'Mercat '.repeat(400)}";`;
const PAGE_PATHS = [
  '/',
  '/?chain=base',
  '/c/harbour-lights',
  TOKEN_PATH,
  '/o/ethereum_1',
  '/w/0x3dd4e9f052dbe1a6e836dc9b9787879836f2c5dd',
  '/shop',
  '/shop/products/prod_1',
  '/service',
  '/service/chains',
];

/** Creates a folder like that of a built console. It also has files that the service must not serve. */
function builtConsole(): string {
  const folder = temporaryDirectory();
  mkdirSync(path.join(folder, 'console'));
  writeFileSync(path.join(folder, 'index.html'), PAGE);
  writeFileSync(path.join(folder, 'console/main-a1.js'), SCRIPT);
  writeFileSync(path.join(folder, 'console/font-b2.woff2'), 'font');
  writeFileSync(path.join(folder, 'console/icon-c3.png'), 'icon');
  writeFileSync(path.join(folder, 'console/console-d4.webmanifest'), '{"name":"Mercat"}');
  writeFileSync(path.join(folder, 'console/main-a1.js.map'), '{}');
  writeFileSync(path.join(folder, 'licenses.md'), 'licences');
  return folder;
}

function useService(settings: Record<string, string>): TestService {
  const service = {} as TestService;
  before(async () => {
    const all = { DATA_DIR: await directoryWithDatabase(), ...settings };
    Object.assign(service, await startTestService({ settings: all, consoleFolder: builtConsole() }));
  });
  after(() => service.close());
  return service;
}

after(cleanUp);

describe('the web console', () => {
  const service = useService({ BASE_URL, IMAGE_GATEWAYS: `ipfs=${GATEWAY}` });

  before(() =>
    service.load([
      subject.collection(),
      subject.token('249', { name: 'Evening', image: 'https://pictures.example/249.png?a=1&b=2' }),
      subject.listing('249', 420_000_000_000_000_000n),
      solana.collection(),
      solana.token(MINT, { name: 'Crab', image: 'data:image/png;base64,aa' }),
    ]),
  );

  /** The tags of the head by name, without the tags that every page has. */
  const previewOf = async (target: string) => {
    const { status, body } = await request(service.url, target);
    const tags = [...body.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)" \/>/g)];
    const named = tags
      .map(([, name = '', content = '']) => [name, content])
      .filter(([name]) => name !== 'image-gateways');
    return { status, title: /<title>(.*?)<\/title>/.exec(body)?.[1], ...Object.fromEntries(named) };
  };

  test('the page of a collection or token names it, its figures and its picture, for previews of links', async () => {
    const name = 'A &#34;name&#34; &#60;b&#62; &#38; $&#38; of a stranger';
    const text = 'Floor 0.42 ETH · 1 listed. Evenings.';
    assert.deepEqual(await previewOf('/c/harbour-lights'), {
      status: 200,
      title: `${name} · Mercat`,
      description: text,
      'og:site_name': 'Mercat',
      'og:type': 'website',
      'og:title': name,
      'og:description': text,
      'og:url': `${BASE_URL}/c/harbour-lights`,
      'og:image': 'https://gateway.example/a&#38;b/Qm1/a.png',
    });
    const token = await previewOf(TOKEN_PATH);
    assert.deepEqual(
      [token.title, token['og:description'], token['og:image']],
      ['Evening · Mercat', '0.42 ETH at opensea', 'https://pictures.example/249.png?a=1&#38;b=2'],
    );
    const crab = await previewOf(`/t/solana/${solana.id}/${MINT}`);
    assert.deepEqual([crab.status, crab.title, crab['og:image']], [200, 'Crab · Mercat', undefined]);
  });

  test('the page of a collection or token that does not exist has the status 404, and the scripts that say so', async () => {
    for (const target of [
      '/c/unknown',
      `/t/ethereum/${subject.address}/7`,
      '/t/ethereum/0x12/7',
      '/t/nochain/0x12/7',
      `/t/solana/${solana.id}/${mintOf('unknown')}`,
      '/t/solana/solana_unknown/7',
    ]) {
      const { status, headers, body } = await request(service.url, target);
      assert.deepEqual([status, headers['content-type']], [404, 'text/html; charset=utf-8'], target);
      assert.ok(body.includes('main-a1.js') && body.includes('<title>Mercat</title>'), target);
      const again = await request(service.url, target, { headers: { 'if-none-match': headers['etag'] ?? '' } });
      assert.equal(again.status, 404, target);
    }
  });

  test('every path of the console serves the page with the base path and the gateways of the service, but only the paths of the market serve the first paint', async () => {
    for (const target of PAGE_PATHS) {
      const { status, headers, body } = await request(service.url, target);
      assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], target);
      const expected = MARKET_PATHS.includes(target) ? SERVED_PAGE : SERVED_PAGE.replace(FIRST_PAINT, '');
      assert.equal(body.replace(/<title>.*?(?=<script)/, '<title>Mercat</title>'), expected, target);
    }
  });

  test('the page may load scripts, styles, fonts and data from the service alone, and cannot be framed', async () => {
    const { headers } = await request(service.url, '/');
    const policy = new Map(
      (headers['content-security-policy'] ?? '').split('; ').map((line) => {
        const [name, ...sources] = line.split(' ');
        return [name, sources];
      }),
    );
    assert.deepEqual(policy.get('default-src'), ["'none'"]);
    for (const name of ['script-src', 'style-src', 'font-src', 'connect-src', 'base-uri'])
      assert.deepEqual(policy.get(name), ["'self'"], name);
    for (const name of ['form-action', 'frame-ancestors']) assert.deepEqual(policy.get(name), ["'none'"], name);
    assert.deepEqual(policy.get('img-src'), ["'self'", 'data:', 'https:', 'http:']);
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['x-content-type-options'], 'nosniff');
  });

  test('a browser must revalidate the page at each visit, and gets a 304 if the page is unchanged', async () => {
    const { headers } = await request(service.url, '/c/harbour-lights');
    assert.equal(headers['cache-control'], 'no-cache');
    const etag = headers['etag'] ?? assert.fail();
    for (const known of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
      const again = await request(service.url, '/c/harbour-lights', { headers: { 'if-none-match': known } });
      assert.deepEqual([again.status, again.body], [304, ''], known);
    }
  });

  test('files are cached for ever, and are compressed if their format is not compressed already', async () => {
    const get = (name: string, coding: string) =>
      fetch(`${service.url}/console/${name}`, { headers: { 'accept-encoding': coding } });
    const script = await get('main-a1.js', 'br');
    assert.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(script.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.deepEqual([script.headers.get('content-encoding'), script.headers.get('vary')], ['br', 'Accept-Encoding']);
    assert.ok(Number(script.headers.get('content-length')) < SCRIPT.length / 10);
    assert.equal(await script.text(), SCRIPT);
    const known = await request(service.url, '/console/main-a1.js', { headers: { 'if-none-match': '*' } });
    assert.equal(known.status, 304);
    const plain = await get('main-a1.js', 'identity');
    assert.deepEqual([plain.headers.get('content-encoding'), await plain.text()], [null, SCRIPT]);
    const font = await get('font-b2.woff2', 'br');
    assert.deepEqual([font.headers.get('content-encoding'), font.headers.get('content-type')], [null, 'font/woff2']);
    const icon = await get('icon-c3.png', 'br');
    assert.deepEqual([icon.headers.get('content-encoding'), icon.headers.get('content-type')], [null, 'image/png']);
    const manifest = await get('console-d4.webmanifest', 'identity');
    assert.equal(manifest.headers.get('content-type'), 'application/manifest+json');
    const page = await fetch(`${service.url}/`);
    assert.match(page.headers.get('content-security-policy') ?? '', /manifest-src 'self'/);
  });

  test('a path that is neither a page nor a file of the console gets an error in JSON', async () => {
    const unknown = [
      '/console/',
      '/console/main-a2.js',
      '/console/main-a1.js.map',
      '/console/..%2findex.html',
      '/index.html',
      '/licenses.md',
      '/c',
      '/t/ethereum/0x00',
      '/unknown',
      '/v1/unknown',
      '/explore/v1/unknown',
      '/api/v1/unknown',
    ];
    for (const target of unknown) {
      const { status, headers, body } = await request(service.url, target);
      assert.deepEqual([status, JSON.parse(body).error.code], [404, 'not_found'], target);
      assert.match(headers['content-type'] ?? '', /^application\/json/, target);
    }
    const posted = await request(service.url, '/', { method: 'POST' });
    assert.deepEqual([posted.status, posted.headers['allow']], [405, 'GET, HEAD, OPTIONS']);
  });
});

describe('a web console that is built again', () => {
  const folder = builtConsole();
  const service = {} as TestService;
  before(async () => {
    const settings = { DATA_DIR: await directoryWithDatabase() };
    Object.assign(service, await startTestService({ settings, consoleFolder: folder }));
  });
  after(() => service.close());

  test('the service serves the page and all files of the build with which it started, also those that it has not served before', async () => {
    rmSync(folder, { recursive: true });
    const page = await request(service.url, '/service');
    const script = await request(service.url, '/console/main-a1.js');
    assert.deepEqual([page.status, script.status, script.body], [200, 200, SCRIPT]);
  });
});

describe('the service without the web console', () => {
  const service = useService({ CONSOLE: 'off' });

  test('with CONSOLE=off every path of the console gets a 404, and the interfaces are served', async () => {
    for (const target of [...PAGE_PATHS, '/console/main-a1.js']) {
      const { status, body } = await request(service.url, target);
      assert.deepEqual([status, JSON.parse(body).error.code], [404, 'not_found'], target);
    }
    for (const target of ['/v1', '/explore/v1', '/docs']) {
      assert.equal((await request(service.url, target)).status, 200, target);
    }
  });

  test('findConsole returns null if the console has not been built', () => {
    assert.equal(findConsole(temporaryDirectory()), null);
  });
});
