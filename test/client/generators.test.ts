// Generates clients from the OpenAPI documents with the usual generators for TypeScript, compiles them in strict mode, and reads tokens with two
// values of one trait from a service with the sample marketplace. `npm run test:runtimes` installs the generators from npm into a temporary
// directory.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { useSampleService } from '../support/service/sample-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCUMENTS = ['marketplace', 'explore', 'store', 'intake'];
const PACKAGES = [
  'typescript@5.9.3',
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  'orval@8.38.0',
  '@hey-api/openapi-ts@0.99.0',
  'swagger-typescript-api@13.13.0',
];
const RUN_MS_MAX = 300_000;
const TRAITS = ['Wind:Gale', 'Wind:Storm'];

const skip = process.env['RUNTIME_TESTS'] ? false : 'npm run test:runtimes downloads the generators from npm';
const service = useSampleService();
let directory: string;

/** Runs a program without blocking the service, which is in this process. Returns its output. */
async function run(program: string, ...args: string[]): Promise<string> {
  const child = spawn(program, args, { cwd: directory, timeout: RUN_MS_MAX, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exited;
  assert.equal(code, 0, output + errors);
  return output;
}

const bin = (name: string) => path.join(directory, 'node_modules/.bin', name);
const documentOf = (name: string) => path.join(ROOT, `openapi/${name}.json`);

before(() => {
  if (skip !== false) return;
  directory = temporaryDirectory();
  writeFileSync(path.join(directory, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const options = ['--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status, stderr } = spawnSync('npm', ['install', ...options, ...PACKAGES], {
    cwd: directory,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
});

type Generator = {
  name: string;
  /** Writes the client of a document into the folder. */
  generate: (document: string, folder: string) => Promise<unknown>;
  /** A program that reads tokens with `traits`, and prints the ids of the tokens as JSON. `folder` has the client of the explore interface. */
  program: (folder: string) => string;
};

const print = `const ids = (rows: readonly { tokenId: string | null }[]) => console.log(JSON.stringify(rows.map(({ tokenId }) => tokenId)));
const trait = ${JSON.stringify(TRAITS)};
`;

const GENERATORS: Generator[] = [
  {
    name: 'openapi-typescript',
    generate: (document, folder) =>
      run(bin('openapi-typescript'), documentOf(document), '-o', path.join(folder, 'index.ts')),
    program: (folder) => `import createClient from 'openapi-fetch';
import type { paths } from '${folder}/index.js';
${print}
const { data } = await createClient<paths>({ baseUrl: '${service.url}' }).GET('/explore/v1/collections/{id}/tokens', {
  params: { path: { id: 'harbour-lights' }, query: { trait } },
});
ids(data?.data ?? []);
`,
  },
  {
    name: 'orval',
    generate: async (document, folder) => {
      const output = { target: path.join(folder, 'index.ts'), client: 'fetch', baseUrl: service.url };
      const config = { mercat: { input: documentOf(document), output } };
      writeFileSync(path.join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(config)};`);
      await run(bin('orval'), '--config', path.join(folder, 'orval.config.mjs'));
    },
    program: (folder) => `import { listTokens } from '${folder}/index.js';
${print}
const response = await listTokens('harbour-lights', { trait });
ids(response.status === 200 ? response.data.data : []);
`,
  },
  {
    name: '@hey-api/openapi-ts',
    generate: (document, folder) => run(bin('openapi-ts'), '-i', documentOf(document), '-o', folder),
    program: (folder) => `import { client } from '${folder}/client.gen.js';
import { listTokens } from '${folder}/sdk.gen.js';
${print}
client.setConfig({ baseUrl: '${service.url}' });
const { data } = await listTokens({ path: { id: 'harbour-lights' }, query: { trait } });
ids(data?.data ?? []);
`,
  },
  {
    name: 'swagger-typescript-api',
    generate: (document, folder) =>
      run(bin('swagger-typescript-api'), 'generate', '-p', documentOf(document), '-o', folder, '-n', 'index.ts'),
    program: (folder) => `import { Api } from '${folder}/index.js';
${print}
const { data } = await new Api({ baseUrl: '${service.url}' }).explore.listTokens('harbour-lights', { trait });
ids(data.data);
`,
  },
];

for (const { name, generate, program } of GENERATORS) {
  test(
    `clients of ${name} compile in strict mode, and read tokens with two values of one trait`,
    { skip },
    async () => {
      const home = path.join(directory, name.replaceAll(/\W/g, '-'));
      for (const document of DOCUMENTS) {
        const folder = path.join(home, document);
        mkdirSync(folder, { recursive: true });
        await generate(document, folder);
      }
      writeFileSync(path.join(home, 'program.ts'), program('./explore'));
      const compilerOptions = {
        strict: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        module: 'esnext',
        moduleResolution: 'bundler',
        target: 'es2023',
        lib: ['es2023', 'dom', 'dom.iterable'],
        types: [],
        noEmit: true,
      };
      writeFileSync(path.join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
      await run(bin('tsc'), '--project', home);
      // Some generators write imports without the ending that Node.js needs.
      const built = path.join(home, 'program.mjs');
      await run('rolldown', path.join(home, 'program.ts'), '--platform', 'node', '--format', 'esm', '--file', built);
      const found = JSON.parse(await run(process.execPath, built)) as string[];
      const query = TRAITS.map((trait) => `trait=${trait}`).join('&');
      const { data } = await service.ok(`/explore/v1/collections/harbour-lights/tokens?${query}`);
      assert.ok(found.length > 0);
      assert.deepEqual(
        found,
        data.map(({ tokenId }: { tokenId: string }) => tokenId),
      );
    },
  );
}
