// Tests the documentation that the service serves for agents: /llms.txt, and the pages of docs/ as Markdown.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { request } from '../support/http/raw-http.ts';
import { useSampleService } from '../support/service/sample-service.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = globSync(['SECURITY.md', 'CHANGELOG.md', 'docs/**/*.md'], { cwd: ROOT }).sort();
const BASE_URL = 'https://market.example/mercat';

describe('the documentation for agents', () => {
  const service = useSampleService({ settings: { BASE_URL } });
  const toServed = (url: string) => url.replace(BASE_URL, service.url);

  test('llms.txt has the form of llmstxt.org, and has a link to each page and each interface, with its first sentence', async () => {
    const response = await fetch(`${service.url}/llms.txt`);
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    const text = await response.text();
    assert.match(text, /^# Mercat\n\n> .+\n\n(?!#).+\n\n## /);
    const links = text
      .split('\n## ')
      .slice(1)
      .flatMap((section) => section.trim().split('\n').slice(2));
    const targets = links.map((line) => /^- \[[^\]]+\]\(([^)]+)\): \S.*[^,]$/.exec(line)?.[1] ?? assert.fail(line));
    const interfaces = ['/mcp', ...['/v1', '/explore/v1', '/api/v1', '/intake/v1'].map((one) => `${one}/openapi.json`)];
    const expected = [...interfaces, ...PAGES.map((name) => `/${name}`)].map((target) => `${BASE_URL}${target}`);
    assert.deepEqual(targets.sort(), expected.sort());
    assert.doesNotMatch(text, /: Date:/, 'the note of a decision must be its first sentence, not its date');
    for (const target of targets) {
      const { status } = await fetch(toServed(target), { method: 'HEAD' });
      assert.equal(status, target.endsWith('/mcp') ? 405 : 200, target);
    }
  });

  test('each page is served as Markdown, and each of its relative links can be fetched', async () => {
    for (const name of PAGES) {
      const url = `${service.url}/${name}`;
      const response = await fetch(url);
      assert.equal(response.headers.get('content-type'), 'text/markdown; charset=utf-8', name);
      const text = await response.text();
      const file = readFileSync(path.join(ROOT, name), 'utf8');
      assert.equal(withoutTargets(text), withoutTargets(file), name);
      for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(link)) continue;
        const { status } = await fetch(new URL(link, url), { method: 'HEAD' });
        assert.equal(status, 200, `${name} links to ${link}`);
      }
    }
  });

  test('a request for a page that does not exist, or for a file outside the folder of the pages, gets a 404', async () => {
    for (const target of [
      '/docs/nothing.md',
      '/docs/explore',
      '/docs/..%2Fpackage.json',
      '/docs/decisions/%2e%2e%2fexplore.md',
    ]) {
      const response = await request(service.url, target);
      assert.equal(response.status, 404, target);
    }
  });

  test('a page has an ETag, is compressed, and allows only GET and HEAD', async () => {
    const url = '/docs/explore.md';
    const { headers } = await request(service.url, url, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(headers['content-encoding'], 'gzip');
    const etag = headers['etag'] ?? assert.fail();
    for (const known of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
      const again = await request(service.url, url, { headers: { 'if-none-match': known } });
      assert.deepEqual([again.status, again.body], [304, ''], known);
    }
    for (const method of ['POST', 'DELETE']) {
      const response = await request(service.url, url, { method });
      assert.deepEqual([response.status, response.headers['allow']], [405, 'GET, HEAD, OPTIONS']);
    }
  });
});

/**
 * Removes the targets of links. The targets of links to OpenAPI documents differ, because the service serves these documents at other paths
 * than the repository.
 */
function withoutTargets(text: string): string {
  return text.replaceAll(/\]\([^)]*\)/g, ']()');
}
