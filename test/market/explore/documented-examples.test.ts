// The commands in the pages about the public interfaces are sent to a service with the sample marketplace, as they are written.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { useSampleService } from '../../support/service/sample-service.ts';

const PAGES = ['docs/marketplace.md', 'docs/explore.md'];
/** The address of the service in the pages. */
const BASE_URL = 'http://127.0.0.1:8080';

type Example = { path: string; body: string | null };

/** The `curl` commands of a page, each with its continued lines. A stream does not end, so it is left out: its own tests read it. */
function readExamples(page: string): Example[] {
  const text = readFileSync(page, 'utf8').replaceAll(/ \\\n\s*/g, ' ');
  return [...text.matchAll(/^(?:\$ )?curl .*$/gm)].flatMap(([line]) => {
    const [, path] = new RegExp(`${BASE_URL}([^' ]*)`).exec(line) ?? [];
    assert.ok(path !== undefined, `${page}: ${line}`);
    const [, body = null] = /-d '([^']*)'/.exec(line) ?? [];
    return line.startsWith('$ curl -sN') ? [] : [{ path, body }];
  });
}

describe('the commands in the pages about the public interfaces', () => {
  const service = useSampleService();
  for (const page of PAGES) {
    const examples = readExamples(page);
    test(`${page} has commands`, () => assert.ok(examples.length >= 3));
    for (const { path, body } of examples) {
      test(`${page}: ${path} finds something in the sample`, async () => {
        const response = await fetch(`${service.url}${path}`, {
          ...(body !== null && { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
        });
        const { data, error } = (await response.json()) as { data?: unknown; error?: unknown };
        assert.equal(response.status, 200, JSON.stringify(error));
        assert.ok(Array.isArray(data) ? data.length > 0 : data);
      });
    }
  }
});
