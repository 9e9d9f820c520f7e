// Tests that docs/adding-*.md and docs/security.md name only files that exist in this repository.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const recipes = readdirSync(path.join(root, 'docs')).filter((name) => /^(adding-.*|security)\.md$/.test(name));

/**
 * The paths in a text. A path is in backticks, and has a slash or the extension of a file. Text that begins with a slash is left out,
 * because it is part of a URL.
 */
function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');
  return quoted.filter((one) => /^[\w.<>*-]+(\/[\w.<>*-]+)*\/?$/.test(one) && /\/|\.(ts|md|sql|json|mjs)$/.test(one));
}

/** The part of a path before its first placeholder, such as `<vendor>`. */
function fixedPart(name: string): string {
  const placeholder = name.search(/[<*]/);
  return placeholder < 0 ? name : name.slice(0, name.lastIndexOf('/', placeholder) + 1);
}

test('the recipes are found', () => assert.ok(recipes.includes('adding-a-chain.md')));

for (const recipe of recipes) {
  test(`every path in docs/${recipe} exists`, () => {
    const paths = pathsIn(readFileSync(path.join(root, 'docs', recipe), 'utf8'));
    assert.ok(paths.length > 0, 'the recipe names no path');
    assert.deepEqual(
      paths.filter((name) => !existsSync(path.join(root, fixedPart(name)))),
      [],
    );
  });
}
