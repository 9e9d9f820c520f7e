// Tests the npm package of the client in a project in which the package is installed.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Project } from './installed-package.ts';
import { createProjectWithClient } from './installed-package.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MARKET_BYTES_MAX = 12_000;
const AMOUNT_BYTES_MAX = 500;

const PROGRAM = `
import type { CollectionSummary, MarketItem } from 'mercat-client';
import { MercatError, createMarketClient, formatAmount } from 'mercat-client';
import { createIntakeClient } from 'mercat-client/intake';
import { createStoreClient } from 'mercat-client/store';
import { verifyWebhook } from 'mercat-client/webhooks';

export async function main(baseUrl: string, signal: AbortSignal): Promise<string[]> {
  const market = createMarketClient({ baseUrl });
  const rows: CollectionSummary[] = await market.listCollections({ chain: 'base' }, { signal }).take(5);
  const lines: string[] = [];
  for (const { id } of rows) {
    const page = await market.listListings({ id, limit: 1 }).page();
    const stale: string[] = page.meta?.staleSources ?? [];
    const cheapest: MarketItem | undefined = page.data[0];
    const raw: bigint = cheapest?.price.raw ?? 0n;
    lines.push(formatAmount(raw, 18), ...stale);
  }
  for await (const activity of market.follow({ from: '0', kinds: ['sale'], signal })) lines.push(activity.offset);
  return lines;
}

export async function change(apiKey: string, body: string, headers: Headers): Promise<number> {
  const store = createStoreClient({ baseUrl: '', apiKey });
  const { data, etag } = await store.getProduct({ productId: 'prod_1' });
  await store.updateProduct({ productId: data.id, price: '1.50' }, etag === null ? {} : { ifMatch: etag });
  await createIntakeClient({ baseUrl: '', apiKey }).cancelOrder({ orderId: 'a' });
  try {
    const { event } = await verifyWebhook({ secret: 'whsec_', headers, body });
    return event.type === 'inventory.low' ? event.data.previous : 0;
  } catch (error) {
    return error instanceof MercatError ? (error.status ?? 0) : 0;
  }
}
`;

const STRICT = {
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
};

let project: Project;
before(() => {
  project = createProjectWithClient();
});

function compile(text: string, options: object): { status: number | null; output: string } {
  project.write('program.ts', text);
  project.write('tsconfig.json', JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files: ['program.ts'] }));
  return project.run('tsc');
}

const inBrowser = {
  module: 'esnext',
  moduleResolution: 'bundler',
  target: 'es2022',
  lib: ['es2022', 'dom'],
  types: [],
};
const inNode = { module: 'nodenext', moduleResolution: 'nodenext', target: 'es2022', lib: ['es2022'], types: ['node'] };

test('a strict program for browsers compiles against the package', () => {
  assert.deepEqual(compile(PROGRAM, inBrowser), { status: 0, output: '' });
});

test('a strict program for Node compiles against the package', () => {
  assert.deepEqual(compile(PROGRAM, inNode), { status: 0, output: '' });
});

test('a program that uses an amount as a number does not compile', () => {
  const { status, output } = compile(PROGRAM.replace('raw: bigint', 'raw: number'), inNode);
  assert.notEqual(status, 0);
  assert.match(output, /Type 'bigint' is not assignable to type 'number'/);
});

const HOOKS = `
import { createMarketClient } from 'mercat-client';
import { createMarketHooks } from 'mercat-client/react';

const { useTokens, useCollection, useLive } = createMarketHooks(createMarketClient({ baseUrl: '', amounts: 'text' }));
export function useNames(id: string): string[] {
  const { status } = useLive({ collections: [id] });
  const { data: collection } = useCollection({ id });
  const { data: tokens = [] } = useTokens({ id, trait: ['Hat:Cap'] });
  const raw: string | undefined = collection?.stats.floor?.raw;
  return [status, raw ?? '', ...tokens.map(({ name }) => name ?? '')];
}
`;

test('a strict program with the hooks for React compiles against the package, and knows the types of the client', () => {
  const modules = path.join(project.directory, 'node_modules');
  mkdirSync(path.join(modules, '@tanstack'), { recursive: true });
  for (const name of ['react', '@types/react', '@tanstack/react-query'])
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  assert.deepEqual(compile(HOOKS, { ...inBrowser, skipLibCheck: true }), { status: 0, output: '' });
  const { output } = compile(HOOKS.replace('raw: string', 'raw: bigint'), { ...inBrowser, skipLibCheck: true });
  assert.match(output, /Type 'string \| undefined' is not assignable to type 'bigint \| undefined'/);
});

const COMMONJS = PROGRAM.replace(
  'import type { CollectionSummary, MarketItem }',
  'import type { BuyerPrice, CollectionSummary, Fulfilment, LastSale, MarketItem, Owner }',
).replace(
  'export async function main',
  `export type Named = [LastSale['at'], Owner['kind'], BuyerPrice['total'], Fulfilment['signature']];
export const inText = (baseUrl: string): Promise<string> =>
  createMarketClient({ baseUrl, amounts: 'text' }).getFloor({ id: 'a' }).then(({ data }) => data.askFloor?.raw ?? '');

export async function main`,
);

test('a strict program of CommonJS modules compiles against the package, and runs', () => {
  project.write('package.json', JSON.stringify({ type: 'commonjs' }));
  try {
    assert.deepEqual(compile(COMMONJS, { ...inNode, verbatimModuleSyntax: false, noEmit: false }), {
      status: 0,
      output: '',
    });
    const entries = ['', '/store', '/intake', '/seaport', '/webhooks'];
    project.write(
      'run.cjs',
      `const { main } = require('./program.js');
       const names = ${JSON.stringify(entries)}.map((entry) => Object.keys(require('mercat-client' + entry)).length > 0);
       const { formatAmount } = require('mercat-client');
       console.log(typeof main, names.every(Boolean), formatAmount(15n, 1), require.resolve('mercat-client/store').includes('cjs'));`,
    );
    assert.deepEqual(project.run('node', 'run.cjs'), { status: 0, output: 'function true 1.5 true\n' });
  } finally {
    project.write('package.json', JSON.stringify({ type: 'module' }));
  }
});

test('the package names files that exist for programs that do not read `exports`', () => {
  const folder = path.join(project.directory, 'node_modules/mercat-client');
  const { main, types, typesVersions, exports } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  ) as {
    main: string;
    types: string;
    typesVersions: Record<string, Record<string, string[]>>;
    exports: Record<string, unknown>;
  };
  const versions = typesVersions['*'] ?? {};
  assert.deepEqual(
    Object.keys(versions).map((entry) => `./${entry}`),
    Object.keys(exports).filter((entry) => entry !== '.'),
  );
  const files = [main, types, ...Object.values(versions).flat()];
  for (const file of files) assert.ok(existsSync(path.join(folder, file)), file);
});

/** Bundles and minifies what `line` exports. `bytes` is the size of the compressed bundle. */
function bundle(line: string): { bytes: number; text: string } {
  project.write('entry.js', line);
  const { status, output } = project.run('rolldown', 'entry.js', '--minify', '--format', 'esm', '--file', 'bundle.js');
  assert.equal(status, 0, output);
  const text = readFileSync(path.join(project.directory, 'bundle.js'), 'utf8');
  return { bytes: gzipSync(text, { level: 9 }).length, text };
}

test('all exports of the market client together have at most 12 kB after compression', () => {
  const { bytes, text } = bundle(`export * from 'mercat-client';`);
  assert.match(text, /explore\/v1/);
  assert.doesNotMatch(text, /react/i);
  assert.equal(bytes <= MARKET_BYTES_MAX, true, `${bytes} bytes`);
});

test('a bundle of one function contains only the code that this function uses', () => {
  const { bytes, text } = bundle(`export { formatAmount } from 'mercat-client';`);
  assert.doesNotMatch(text, /fetch/);
  assert.equal(bytes <= AMOUNT_BYTES_MAX, true, `${bytes} bytes`);
});
