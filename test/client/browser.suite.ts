// Runs an example of the client in a browser. The page has another origin than the service. market.test.ts runs this suite.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { listCollection } from '../../client/examples/list-collection.ts';
import type { TestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
// With REQUIRE_CHROMIUM=1 the test fails without Chromium.
const skip =
  existsSync(EXECUTABLE) || process.env['REQUIRE_CHROMIUM'] === '1'
    ? false
    : `no Chromium at ${EXECUTABLE} (set CHROMIUM)`;
const EXAMPLES = fileURLToPath(new URL('../../client/examples/', import.meta.url));

/** Bundles the script, and serves a page that runs it. Returns the URL of the page. */
async function servePage(context: TestContext, script: string): Promise<string> {
  const directory = temporaryDirectory();
  const [entry, output] = [path.join(directory, 'page.ts'), path.join(directory, 'page.js')];
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
    await page.waitForFunction(`document.title !== 'Example'`, undefined, { timeout: 60_000 });
    assert.deepEqual((await page.textContent('pre'))?.trim().split('\n'), expected);
  });
}
