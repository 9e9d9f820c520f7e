// Runs an example of the client, and the React component of docs/client.md, in a browser. The page has another origin than the service. market.test.ts
// runs this suite.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { listCollection } from '../../client/examples/list-collection.ts';
import type { TestService } from '../support/service/service.ts';
import { newCollection } from '../support/service/market.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
// With REQUIRE_CHROMIUM=1 the test fails without Chromium.
const skip =
  existsSync(EXECUTABLE) || process.env['REQUIRE_CHROMIUM'] === '1'
    ? false
    : `no Chromium at ${EXECUTABLE} (set CHROMIUM)`;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EXAMPLES = path.join(ROOT, 'client/examples/');
const SOURCES = path.join(ROOT, 'client/src');
const WAIT_MS = 60_000;

/** Bundles the script, and serves a page that runs it. Returns the URL of the page. */
async function servePage(context: TestContext, script: string): Promise<string> {
  const directory = temporaryDirectory();
  const [entry, output] = [path.join(directory, 'page.tsx'), path.join(directory, 'page.js')];
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'));
  writeFileSync(entry, script);
  const bundled = spawnSync('rolldown', [entry, '--format', 'esm', '--file', output], { encoding: 'utf8' });
  assert.equal(bundled.status, 0, bundled.stderr);
  const page = `<!doctype html><title>Example</title><pre></pre><script type="module">${readFileSync(output, 'utf8')}</script>`;
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(page));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

export function describeBrowser(service: TestService): void {
  test('the example list-collection prints the same in Chromium as in Node', { skip }, async (context) => {
    const expected: string[] = [];
    await listCollection(service.url, 'harbour-lights', (line) => expected.push(line));
    const url = await servePage(
      context,
      `import { listCollection } from '${EXAMPLES}list-collection.ts';
       const output = document.querySelector('pre');
       const print = (line) => { output.textContent += line + '\\n'; };
       listCollection('${service.url}', 'harbour-lights', print).then(
         () => { document.title = 'done'; },
         (error) => { document.title = 'failed'; print(String(error)); },
       );`,
    );
    const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] });
    context.after(() => browser.close());
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForFunction(`document.title !== 'Example'`, undefined, { timeout: WAIT_MS });
    assert.deepEqual((await page.textContent('pre'))?.trim().split('\n'), expected);
  });
  test(
    'the React component of docs/client.md shows pages of tokens, and a new listing when it is made',
    { skip },
    async (context) => {
      const subject = newCollection();
      await service.load([
        subject.collection(),
        ...Array.from({ length: 30 }, (_, index) => subject.token(String(index + 1))),
        subject.listing('1', 5n * 10n ** 17n),
      ]);
      const [, component = ''] =
        /```tsx\n(.*?)```/s.exec(readFileSync(path.join(ROOT, 'docs/client.md'), 'utf8')) ?? [];
      const url = await servePage(
        context,
        component
          .replace('http://127.0.0.1:8080', service.url)
          .replace('harbour-lights', subject.slug)
          .replaceAll(/'mercat-client(\/\w+)?'/g, (_match, entry = '/market') => `'${SOURCES}${entry}.ts'`),
      );
      const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] });
      context.after(() => browser.close());
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(String(error)));
      await page.goto(url);
      await page.waitForFunction(`document.querySelectorAll('li').length === 24`, undefined, { timeout: WAIT_MS });
      assert.match((await page.textContent('li')) ?? '', /0\.5$/);
      await page.waitForSelector('main.open', { timeout: WAIT_MS });
      await service.load([subject.listing('2', 2n * 10n ** 17n, { id: `${subject.slug}-2` })]);
      await page.waitForFunction(`document.querySelector('li').textContent.endsWith('0.2')`, undefined, {
        timeout: WAIT_MS,
      });
      await page.click('button');
      await page.waitForFunction(`document.querySelectorAll('li').length === 30`, undefined, { timeout: WAIT_MS });
      assert.deepEqual(problems, []);
    },
  );
}
