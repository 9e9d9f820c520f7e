// Tests the reference page without a browser. The page must load nothing from other hosts.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import vm from 'node:vm';
import { request } from '../support/http/raw-http.ts';
import { useSampleService } from '../support/service/sample-service.ts';

const BASE_URL = 'https://market.example/mercat';

describe('the reference page', () => {
  const service = useSampleService({ settings: { BASE_URL } });
  /** The URLs in the HTML of the page, resolved relative to `/docs`. */
  const linksOf = (html: string) =>
    Array.from(
      html.matchAll(/(?:src|href|data-document)="([^"]+)"/g),
      ([, link]) => new URL(link ?? '', `${service.url}/docs`),
    );

  test('the service serves every URL in the HTML of the reference page', async () => {
    const response = await fetch(`${service.url}/docs`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
    const html = await response.text();
    assert.deepEqual(html.match(/<script[^>]*>[^<]*/g), ['<script src="docs/reference.js">']);
    assert.doesNotMatch(html, /<style| style=| on[a-z]+=/);
    const links = linksOf(html).filter((link) => link.protocol !== 'data:');
    assert.deepEqual([...new Set(links.map(({ pathname, search }) => pathname + search))].sort(), [
      '/api/v1/openapi.json',
      '/docs/reference.css',
      '/docs/reference.js',
      '/docs?api=explore',
      '/docs?api=intake',
      '/docs?api=marketplace',
      '/docs?api=store',
      '/explore/v1/openapi.json',
      '/intake/v1/openapi.json',
      '/v1/openapi.json',
    ]);
    for (const link of links) {
      const { status } = await fetch(link);
      assert.equal(status, 200, link.href);
    }
  });

  test('the content security policy of the reference page allows only requests to this service', async () => {
    const { headers } = await fetch(`${service.url}/docs`);
    const policy = headers.get('content-security-policy') ?? '';
    const directives = new Map(policy.split('; ').map((line) => [line.split(' ', 1)[0], line.split(' ').slice(1)]));
    assert.deepEqual(directives.get('default-src'), ["'none'"]);
    assert.deepEqual(directives.get('script-src'), ["'self'"]);
    assert.deepEqual(directives.get('style-src'), ["'self'"]);
    assert.deepEqual(directives.get('connect-src'), ["'self'", 'https://market.example']);
    for (const name of ['base-uri', 'form-action', 'frame-ancestors'])
      assert.deepEqual(directives.get(name), ["'none'"]);
    const allowed = new Set(["'none'", "'self'", 'data:', 'https://market.example']);
    for (const [name, sources] of directives) {
      for (const source of sources) assert.ok(allowed.has(source), `${name} ${source}`);
    }
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
  });

  test('the reference page, its styles and its settings have no URL of another host', async () => {
    const page = await (await fetch(`${service.url}/docs`)).text();
    assert.doesNotMatch(page, /https?:|\/\//);
    const style = await (await fetch(`${service.url}/docs/reference.css`)).text();
    assert.doesNotMatch(style, /@import|url\((?!["']?data:)|sourceMappingURL/);
    const { validatorUrl, queryConfigEnabled } = await startReference('');
    assert.deepEqual({ validatorUrl, queryConfigEnabled }, { validatorUrl: null, queryConfigEnabled: false });
  });

  test('the reference page displays the document named in ?api=, or the marketplace document if ?api= is missing or unknown', async () => {
    const documents = {
      '': 'v1/openapi.json',
      '?api=marketplace': 'v1/openapi.json',
      '?api=explore': 'explore/v1/openapi.json',
      '?api=store': 'api/v1/openapi.json',
      '?api=intake': 'intake/v1/openapi.json',
      '?api=https://evil.example/': 'v1/openapi.json',
      '?url=https://evil.example/': 'v1/openapi.json',
    };
    for (const [search, url] of Object.entries(documents)) {
      assert.equal((await startReference(search))['url'], url, search);
    }
  });

  test('the reference page is at /docs, and /docs/ redirects to /docs', async () => {
    const slashed = await request(service.url, '/docs/');
    assert.equal(slashed.status, 301);
    assert.equal(new URL(slashed.headers['location'] ?? '', `${BASE_URL}/docs/`).href, `${BASE_URL}/docs`);
    for (const target of ['/docs', '/docs?x=1', 'http://any.example/docs']) {
      assert.equal((await request(service.url, target)).status, 200, target);
    }
  });

  for (const [path, type] of [
    ['/docs/reference.js', 'text/javascript; charset=utf-8'],
    ['/docs/reference.css', 'text/css; charset=utf-8'],
  ] as const) {
    test(`the server sends ${path} compressed to clients that accept gzip`, async () => {
      const get = (encoding: string) => fetch(`${service.url}${path}`, { headers: { 'accept-encoding': encoding } });
      const plain = await get('identity');
      assert.equal(plain.headers.get('content-encoding'), null);
      assert.equal(plain.headers.get('vary'), 'Accept-Encoding');
      assert.equal(plain.headers.get('content-type'), type);
      const gzipped = await get('br, gzip');
      assert.equal(gzipped.headers.get('content-encoding'), 'gzip');
      const content = await plain.text();
      assert.ok(Number(gzipped.headers.get('content-length')) < content.length / 3);
      assert.equal(await gzipped.text(), content);
      assert.equal((await get('identity;q=0, GZIP;q=0.5')).headers.get('content-encoding'), 'gzip');
      for (const encodings of ['identity', 'gzip;q=0', 'gzip; q=0', 'gzip ;q=0.000', '', 'x-gzip2', 'x-gzip']) {
        const headers = { 'accept-encoding': encodings };
        const response = await request(service.url, path, { headers, method: 'HEAD' });
        assert.equal(response.headers['content-encoding'], undefined, encodings);
      }
      const etag = plain.headers.get('etag') ?? assert.fail();
      const again = await request(service.url, path, { headers: { 'if-none-match': etag } });
      assert.equal(again.status, 304);
      assert.equal(again.body, '');
    });
  }

  /**
   * Runs the last block of the page's script with `search` as the query of the page's URL. Returns the options that the script passes to
   * Swagger UI.
   */
  async function startReference(search: string): Promise<Record<string, unknown>> {
    const page = await (await fetch(`${service.url}/docs${search}`)).text();
    const script = await (await fetch(`${service.url}/docs/reference.js`)).text();
    const links = Array.from(page.matchAll(/href="docs(\?[^"]+)" data-document="([^"]+)"/g), ([, query, document]) => ({
      search: query,
      dataset: { document },
      setAttribute() {},
    }));
    assert.equal(links.length, 4);
    const started: Record<string, unknown>[] = [];
    vm.runInNewContext(script.slice(script.lastIndexOf('\n{\n')), {
      URLSearchParams,
      location: { search },
      matchMedia: () => ({ matches: false, addEventListener() {} }),
      document: {
        querySelectorAll: () => links,
        getElementById: () => null,
        documentElement: { classList: { toggle() {} } },
      },
      SwaggerUIBundle: (options: Record<string, unknown>) => started.push(options),
    });
    return started[0] ?? assert.fail();
  }
});
