// Compiles a program against the npm package of the client with TypeScript 5.9 and the module resolutions that read no `exports`.
// `npm run test:runtimes` installs this TypeScript from npm into a temporary directory: the one of this repository no longer has them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { before, test } from 'node:test';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { Project } from './installed-package.ts';
import { createProjectWithClient } from './installed-package.ts';

const TYPESCRIPT_VERSION = '5.9.3';
const skip = process.env['RUNTIME_TESTS'] ? false : 'npm run test:runtimes downloads TypeScript 5.9 from npm';

const PROGRAM = `
import type { BuyerPrice, CollectionSummary, Fulfilment, LastSale, Owner } from 'mercat-client';
import { createMarketClient, formatAmount } from 'mercat-client';
import { createIntakeClient } from 'mercat-client/intake';
import { toListingOrder } from 'mercat-client/seaport';
import { createStoreClient } from 'mercat-client/store';
import { verifyWebhook } from 'mercat-client/webhooks';

export type Named = [LastSale['at'], Owner['kind'], BuyerPrice['total'], Fulfilment['signature']];
export const used = [createIntakeClient, toListingOrder, createStoreClient, verifyWebhook];
export async function main(baseUrl: string): Promise<string[]> {
  const rows: CollectionSummary[] = await createMarketClient({ baseUrl }).listCollections().take(5);
  const { data } = await createMarketClient({ baseUrl, amounts: 'text' }).getFloor({ id: 'a' });
  const text: string | undefined = data.askFloor?.raw;
  return [...rows.map(({ stats }) => formatAmount(stats.floor?.raw ?? 0n, 18)), text ?? ''];
}
`;

let project: Project;
let compiler: string;
before(() => {
  if (skip) return;
  const directory = temporaryDirectory();
  const options = [
    '--prefix',
    directory,
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ];
  const { status, stderr } = spawnSync('npm', ['install', ...options, `typescript@${TYPESCRIPT_VERSION}`], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  compiler = path.join(directory, 'node_modules/typescript/bin/tsc');
  project = createProjectWithClient();
});

for (const [name, type, options] of [
  ['CommonJS modules with node10', 'commonjs', { module: 'commonjs', moduleResolution: 'node10' }],
  ['ES modules with node10', 'module', { module: 'es2022', moduleResolution: 'node10' }],
  ['CommonJS modules with node16', 'commonjs', { module: 'node16', moduleResolution: 'node16' }],
  ['ES modules with node16', 'module', { module: 'node16', moduleResolution: 'node16' }],
] as const) {
  test(`a strict program of ${name} compiles against the package`, { skip }, () => {
    const strict = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      types: ['node'],
    };
    const compilerOptions = { ...strict, target: 'es2022', lib: ['es2022'], ...options };
    project.write('package.json', JSON.stringify({ type }));
    project.write('program.ts', PROGRAM);
    project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    assert.deepEqual(project.run(process.execPath, compiler), { status: 0, output: '' });
    project.write('program.ts', PROGRAM.replace('text: string | undefined', 'text: bigint | undefined'));
    assert.match(project.run(process.execPath, compiler).output, /Type 'string \| undefined' is not assignable/);
  });
}
