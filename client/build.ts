// `npm run package:client [DIRECTORY]`: writes the npm package of the client, dist/mercat-client-VERSION.tgz. The package contains
// JavaScript and declarations instead of the TypeScript sources, because Node.js does not strip types in node_modules. It has both as ES modules
// and, in dist/cjs, as CommonJS modules, which TypeScript needs for programs that are CommonJS.

import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** A quoted relative path of a TypeScript file. The compiler rewrites these paths in JavaScript, but not in declarations. */
const TYPESCRIPT_PATH = /(['"])(\.{1,2}\/[^'"\n]+)\.ts\1/g;

type Manifest = { exports: Record<string, string> };

const dist = path.resolve(process.argv[2] ?? path.join(ROOT, 'dist'));
const staging = path.join(dist, 'mercat-client');
rmSync(staging, { recursive: true, force: true });
mkdirSync(staging, { recursive: true });
const compile = (outDir: string, ...options: string[]) =>
  run('tsc', ['--project', path.join(ROOT, 'client'), '--outDir', path.join(staging, outDir), ...options]);
compile('dist');
compile('dist/cjs', '--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false');
writeFileSync(path.join(staging, 'dist/cjs/package.json'), `${JSON.stringify({ type: 'commonjs' })}\n`);
for (const file of globSync('dist/**/*.d.ts', { cwd: staging })) {
  const declaration = path.join(staging, file);
  writeFileSync(declaration, readFileSync(declaration, 'utf8').replaceAll(TYPESCRIPT_PATH, '$1$2.js$1'));
}
copyFileSync(path.join(ROOT, 'docs/client.md'), path.join(staging, 'README.md'));
copyFileSync(path.join(ROOT, 'LICENSE'), path.join(staging, 'LICENSE'));
const manifest = JSON.parse(readFileSync(path.join(ROOT, 'client/package.json'), 'utf8')) as Manifest;
const exported = Object.entries(manifest.exports).map(([entry, source]) => [entry, toBuilt(source)] as const);
const subpaths = exported.filter(([entry]) => entry !== '.');
const root = exported.find(([entry]) => entry === '.')?.[1];
const published = {
  ...manifest,
  // Programs with `moduleResolution: node10` do not read `exports`.
  main: root?.require.default,
  types: root?.require.types,
  typesVersions: {
    '*': Object.fromEntries(subpaths.map(([entry, { require }]) => [entry.replace('./', ''), [require.types]])),
  },
  exports: Object.fromEntries(exported),
};
writeFileSync(path.join(staging, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
run('npm', ['pack', staging, '--pack-destination', dist]);

/** The exports of client/package.json name the sources, so that the examples run in the repository without a build. */
function toBuilt(source: string): Record<'import' | 'require', Built> & { default: string } {
  const name = source.replace(/^\.\/src\/(.+)\.ts$/, '$1');
  const toFiles = (folder: string): Built => ({ types: `${folder}/${name}.d.ts`, default: `${folder}/${name}.js` });
  const modules = toFiles('./dist');
  return { import: modules, require: toFiles('./dist/cjs'), default: modules.default };
}

type Built = { types: string; default: string };

function run(program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${program} failed`);
}
