// The few rules of this house that matter most, held by a test. CONTRIBUTING.md gives the reasons.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../src/', import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name: name.replaceAll(path.sep, '/'), text: readFileSync(path.join(root, name), 'utf8') }));

/** Contexts from the top of the list down. A file imports its own context and those below it. */
const CONTEXTS = [
  'main.ts',
  'cli',
  'service.ts',
  'context.ts',
  'config.ts',
  'workers',
  'chains',
  'upstreams',
  'server',
  'intake',
  'market',
  'orders',
  'follows',
  'shop',
  'tasks',
  'chain-log',
  'http',
  'database',
  'resilience',
  'core',
  'version.ts',
];
const LINES_MAX = 350;
const BANNED_NAMES = /^(utils?|helpers?|common|types|index|misc|shared)(\.ts)?$/;

const contextOf = (file: string) => file.split('/', 1)[0] ?? '';
const placeOf = (context: string) => CONTEXTS.indexOf(context);

function importsOf({ name, text }: { name: string; text: string }): string[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s+'(\.[^']+)'/g)].map((match) => match[1] ?? '');
  return specifiers.map((specifier) => path.posix.normalize(path.posix.join(path.posix.dirname(name), specifier)));
}

test('imports point down the list of contexts', () => {
  const wrong = files.flatMap((file) => {
    const context = contextOf(file.name);
    assert.ok(
      placeOf(context) >= 0,
      `src/${context} is not in the list of contexts: add it here and to ARCHITECTURE.md`,
    );
    return importsOf(file)
      .filter((target) => !target.startsWith('..'))
      .filter((target) => placeOf(contextOf(target)) < placeOf(context))
      .map((target) => `${file.name} -> ${target}`);
  });
  assert.deepEqual(wrong, []);
});

test('no files need one another in a circle, types included', () => {
  const targets = new Map(files.map((file) => [file.name, importsOf(file)]));
  const done = new Set<string>();
  const circleFrom = (name: string, way: readonly string[]): readonly string[] | null => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name)) return null;
    for (const target of targets.get(name) ?? []) {
      const circle = circleFrom(target, [...way, name]);
      if (circle) return circle;
    }
    done.add(name);
    return null;
  };
  for (const name of targets.keys()) assert.equal(circleFrom(name, [])?.join(' -> ') ?? null, null);
});

test('nothing but the command that starts them knows of the local chains', () => {
  const wrong = files
    .filter(({ name }) => name !== 'cli/devnet.ts')
    .filter((file) => importsOf(file).some((target) => target.startsWith('../devnet/')));
  assert.deepEqual(
    wrong.map(({ name }) => name),
    [],
  );
});

const isSqlPlace = (name: string) => /^database\/|\/queries\//.test(name);

test('SQL stands in queries/ and database/ only', () => {
  const sql = /\b(select\s[\s\S]{1,80}\sfrom|insert into|update \w+\.\w+ set|delete from)\b/;
  const wrong = files.filter(({ name, text }) => !isSqlPlace(name) && sql.test(text));
  assert.deepEqual(
    wrong.map(({ name }) => name),
    [],
  );
});

test('only config reads the environment', () => {
  const wrong = files.filter(({ name, text }) => name !== 'config.ts' && /process\.env/.test(text));
  assert.deepEqual(
    wrong.map(({ name }) => name),
    [],
  );
});

test('core does no input or output, but for the clock', () => {
  const wrong = files.filter(
    ({ name, text }) =>
      contextOf(name) === 'core' &&
      name !== 'core/clock.ts' &&
      /from 'node:(?!crypto|zlib)|\bfetch\(|setTimeout|Date\.now/.test(text),
  );
  assert.deepEqual(
    wrong.map(({ name }) => name),
    [],
  );
});

test('every file opens with what it is in charge of, has one reason to change, and a name that says something', () => {
  const wrong = files.filter(
    ({ name, text }) =>
      !text.startsWith('// ') || text.split('\n').length > LINES_MAX || BANNED_NAMES.test(path.posix.basename(name)),
  );
  assert.deepEqual(
    wrong.map(({ name }) => name),
    [],
  );
});

test('no error is swallowed and no type error is hushed', () => {
  const forbidden = /catch\s*(\([^)]*\))?\s*\{\s*\}|@ts-ignore|@ts-expect-error/;
  assert.deepEqual(
    files.filter(({ text }) => forbidden.test(text)).map(({ name }) => name),
    [],
  );
});
