// Tests what the npm package of `npm run package` contains, that the package runs from node_modules, and that its bill of materials is
// right. Only `npm run test:deploy` tests the installation into an empty folder, because the installation downloads packages.

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { WHY_NOT_DEPLOYED } from './requirements.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_LIMIT_MS = 120_000;
/** An installation downloads about 100 MB. */
const INSTALL_LIMIT_MS = 600_000;

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const lockfile = readJson(path.join(ROOT, 'package-lock.json'));
/** Its files are in the package. Its dependency with an install script is left out. */
const BUNDLED = 'node_modules/swagger-ui-dist';
const LEFT_OUT = 'node_modules/@scarf/scarf';
const isProduction = ([name, entry]: [string, any]) => name !== '' && !entry.dev && !entry.link;

describe('the npm package', () => {
  let archive: string;
  let unpacked: string;

  before(() => {
    const dist = temporaryDirectory();
    const built = spawnSync(process.execPath, [path.join(ROOT, 'deploy/package/build.ts'), dist], { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
    archive = globSync(`${dist}/mercat-*.tgz`)[0] ?? assert.fail('no archive was written');
    const target = temporaryDirectory();
    assert.equal(spawnSync('tar', ['-xzf', archive, '-C', target]).status, 0);
    // Node.js does not run TypeScript in node_modules. The package is therefore tested in such a folder.
    unpacked = path.join(target, 'node_modules/mercat');
    mkdirSync(path.dirname(unpacked));
    renameSync(path.join(target, 'package'), unpacked);
    for (const name of readdirSync(path.join(ROOT, 'node_modules'))) {
      if (name !== 'mercat')
        symlinkSync(path.join(ROOT, 'node_modules', name), path.join(target, 'node_modules', name));
    }
  });

  test('the npm package contains JavaScript and the files that the service reads, but no tests and no development packages', () => {
    const files = globSync('**', { cwd: unpacked, exclude: (name) => name === 'node_modules' });
    assert.deepEqual(
      files.filter((file) => /\.ts$|^(test|devnet|bench|faults|deploy|client|console\/src)\b/.test(file)),
      [],
    );
    const migrations = globSync('src/platform/database/migrations/*/*.sql', { cwd: ROOT });
    assert.deepEqual(
      migrations.filter((file) => !files.includes(file)),
      [],
    );
    const documents = ['SECURITY.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
    assert.deepEqual(
      documents.filter((file) => !files.includes(file)),
      [],
    );
    assert.ok(files.includes(path.join('console', 'dist', 'index.html')), 'the web console is missing');
    const typescript = globSync('{src,sample,oracle,bin}/**/*.{js,mjs}', { cwd: unpacked }).filter((file) =>
      /['"]\.{1,2}\/[^'"\n]+\.ts['"]/.test(readFileSync(path.join(unpacked, file), 'utf8')),
    );
    assert.deepEqual(typescript, []);
    const { private: isPrivate, devDependencies, scripts } = readJson(path.join(unpacked, 'package.json'));
    assert.deepEqual([isPrivate, devDependencies, scripts], [true, undefined, undefined]);
  });

  test('every file that a file of the npm package imports is in the package', () => {
    const files = globSync('{bin,src,sample,oracle}/**/*.{js,mjs}', { cwd: unpacked });
    assert.ok(files.length > 100);
    assert.deepEqual(listMissingImports(unpacked, files), []);
  });

  test('the npm package pins exactly the production packages of package-lock.json', () => {
    const { packages } = readJson(path.join(unpacked, 'npm-shrinkwrap.json'));
    const { '': _, ...pinned } = packages;
    const { [BUNDLED]: bundled, ...others } = pinned;
    const expected = Object.fromEntries(Object.entries<any>(lockfile.packages).filter(isProduction));
    const { version, license } = expected[BUNDLED];
    assert.deepEqual(bundled, { version, inBundle: true, license });
    delete expected[BUNDLED];
    delete expected[LEFT_OUT];
    assert.deepEqual(others, expected);
  });

  test('no package of the npm package has an install script', () => {
    const { packages } = readJson(path.join(unpacked, 'npm-shrinkwrap.json'));
    for (const [name, { hasInstallScript, dependencies = {} }] of Object.entries<any>(packages)) {
      assert.notEqual(hasInstallScript, true, name);
      if (name === '') continue;
      // A dependency without an entry would be installed from the registry in a version that nobody has checked.
      for (const dependency of Object.keys(dependencies)) {
        const isPinned = [`${name}/node_modules/${dependency}`, `node_modules/${dependency}`].some(
          (one) => packages[one],
        );
        assert.ok(isPinned, `${name} needs ${dependency}`);
      }
    }
    const manifests = globSync('**/package.json', { cwd: path.join(unpacked, 'node_modules') });
    assert.deepEqual(manifests, ['swagger-ui-dist/package.json']);
    const bundled = readJson(path.join(unpacked, BUNDLED, 'package.json'));
    assert.deepEqual([bundled.scripts, bundled.dependencies], [undefined, undefined]);
  });

  test('the bill of materials beside the npm package names exactly the production packages', () => {
    const { bomFormat, components } = readJson(path.join(path.dirname(archive), 'mercat.cdx.json'));
    assert.equal(bomFormat, 'CycloneDX');
    const named = components.map(({ purl }: any) => decodeURIComponent(purl).replace(/^pkg:npm\//, ''));
    const entries = Object.entries<any>(lockfile.packages).filter((one) => isProduction(one) && one[0] !== LEFT_OUT);
    const expected = entries.map(([name, { version }]) => `${name.replace(/^.*node_modules\//, '')}@${version}`);
    assert.deepEqual(new Set(named), new Set(expected));
  });

  test('the npm package runs from node_modules: it creates a database and serves', async () => {
    const args = [path.join(unpacked, 'bin/mercat.mjs'), 'serve', '--no-sample'];
    await assertServes(spawn(process.execPath, args, { env: settings(), stdio: ['ignore', 'pipe', 'pipe'] }));
  });

  test(
    'npx runs the package from an empty folder',
    { skip: WHY_NOT_DEPLOYED ?? false, timeout: INSTALL_LIMIT_MS },
    async () => {
      const args = ['--yes', '--prefer-offline', '--package', archive, '--', 'mercat', 'serve', '--no-sample'];
      const options = { cwd: temporaryDirectory(), env: { ...process.env, ...settings() } };
      await assertServes(spawn('npx', args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }), INSTALL_LIMIT_MS);
    },
  );
});

test('every file that a file of the image imports is in the image', () => {
  const instructions = readFileSync(path.join(ROOT, 'Containerfile'), 'utf8').split('\nFROM ').at(-2) ?? '';
  const copied = [...instructions.matchAll(/^COPY (?!--)(.*) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
  const lines = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').split('\n');
  const ignored = lines.filter((line) => /^\w/.test(line));
  const isIgnored = (file: string) => ignored.some((name) => file === name || file.startsWith(`${name}/`));
  const files = globSync(
    copied.map((name) => `${name}/**/*.{ts,mjs}`),
    { cwd: ROOT },
  ).filter((file) => !isIgnored(file));
  assert.ok(copied.includes('src') && files.length > 100, copied.join(' '));
  const missing = listMissingImports(ROOT, files, (file) => files.includes(file));
  assert.deepEqual(missing, []);
});

/** `mercat devnet` says that it needs a checkout. */
const CHECKOUT_ONLY = 'src/cli/devnet';

/** The relative paths that the files import and that do not exist, as `FILE imports PATH`. */
function listMissingImports(
  root: string,
  files: readonly string[],
  exists = (file: string) => existsSync(path.join(root, file)),
): string[] {
  const others = files.filter((file) => !file.startsWith(`${CHECKOUT_ONLY}.`));
  return others.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const imported = [
      ...text.matchAll(/^(?:import|export)\b.* from '(\.[^']+)'|^\} from '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm),
    ];
    return imported
      .map(([, first, second, third]) => path.join(path.dirname(file), first ?? second ?? third ?? ''))
      .filter((one) => !exists(one))
      .map((one) => `${file} imports ${one}`);
  });
}

function settings(): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, DATA_DIR: temporaryDirectory(), PORT: '0', PRICE_SOURCES: 'none', LOG_LEVEL: 'error' };
}

/** Waits until the process serves, requests a list, and stops the process. */
async function assertServes(child: ChildProcess, limitMs = START_LIMIT_MS): Promise<void> {
  const ended = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const findUrl = () => /serves on (http:\/\/\S+)/.exec(output)?.[1];
  try {
    const isServing = () => {
      if (child.exitCode !== null) throw new Error(`the process ended: ${output}`);
      return findUrl() !== undefined;
    };
    await until(isServing, limitMs, 'the package did not serve');
    const response = await fetch(`${findUrl()}/v1/collections`);
    assert.deepEqual([response.status, ((await response.json()) as any).data], [200, []]);
  } finally {
    child.kill('SIGTERM');
  }
  await ended;
}
