// `npm run package`: writes the npm package of the service, dist/mercat-VERSION.tgz, and its bill of materials, dist/mercat.cdx.json. The package contains JavaScript, because Node.js strips
// types only outside node_modules. It has no development packages, and pins every package that it needs (npm-shrinkwrap.json).

import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** `devnet` is left out, because it needs the development packages. */
const CONTENTS = [
  'bin',
  'src',
  'sample',
  'oracle',
  'console/dist',
  'docs',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'LICENSE',
];
/** The runs of the oracle, which need files of `test`. The image leaves them out too: .dockerignore. */
const LEFT_OUT = ['oracle/history', 'oracle/main.ts', 'oracle/model', 'oracle/run'];
const MANIFEST_FIELDS = [
  'name',
  'version',
  // Makes `npm publish` fail, because nobody has claimed the name of the package in the registry.
  'private',
  'description',
  'license',
  'bin',
  'type',
  'dependencies',
  'optionalDependencies',
  'engines',
];
/**
 * A package that the service reads files of, and that depends on a package with an install script. The files are bundled without the dependency, so that
 * an installation runs no script of a stranger.
 */
const BUNDLED = {
  name: 'swagger-ui-dist',
  files: ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE'],
  without: '@scarf/scarf',
};
/** A command of npm may write at most this many bytes. The largest output is the bill of materials, with about 200 kB. */
const OUTPUT_BYTES_MAX = 16 * 2 ** 20;
/** Matches a relative path of a TypeScript file in quotes, as in imports and in `new URL`. */
const TYPESCRIPT_PATH = /(['"])(\.{1,2}\/[^'"\n]+)\.ts\1/g;

type Manifest = Record<string, unknown>;
type Lockfile = { packages: Record<string, Manifest & { dev?: boolean; link?: boolean }> };

const dist = path.resolve(process.argv[2] ?? path.join(ROOT, 'dist'));
const staging = path.join(dist, 'mercat');
runNode(['console/build.mjs']);
rmSync(staging, { recursive: true, force: true });
mkdirSync(staging, { recursive: true });
for (const name of CONTENTS) cpSync(path.join(ROOT, name), path.join(staging, name), { recursive: true });
for (const name of LEFT_OUT) rmSync(path.join(staging, name), { recursive: true });
for (const file of globSync('**/*.{ts,mjs}', { cwd: staging })) toJavaScript(path.join(staging, file));
copyBundled();
writeJson('package.json', toManifest(readJson<Manifest>('package.json')));
writeJson('npm-shrinkwrap.json', toShrinkwrap(readJson<Lockfile>('package-lock.json')));
runNpm(['pack', staging, '--pack-destination', dist], dist);
// The bill of materials is made from the package. `npm sbom --omit=dev` in the repository would leave out packages that both the service
// and a development package need.
const sbom = runNpm(['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'], staging);
writeFileSync(path.join(dist, 'mercat.cdx.json'), sbom);

/** Runs a script of the repository. */
function runNode(args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${args[0]} failed`);
}

/** Returns the standard output. */
function runNpm(args: readonly string[], cwd: string): string {
  const { status, stdout } = spawnSync('npm', args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm ${args[0]} failed`);
  return stdout;
}

/** Replaces a TypeScript file by a JavaScript file with the same lines. Changes a JavaScript file to import JavaScript files. */
function toJavaScript(file: string): void {
  const text = readFileSync(file, 'utf8');
  const stripped = file.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  rmSync(file);
  writeFileSync(file.replace(/\.ts$/, '.js'), stripped.replaceAll(TYPESCRIPT_PATH, '$1$2.js$1'));
}

function toManifest(manifest: Manifest): Manifest {
  const kept = Object.fromEntries(MANIFEST_FIELDS.map((field) => [field, manifest[field]]));
  return { ...kept, bundleDependencies: [BUNDLED.name] };
}

/** The lockfile without development packages. */
function toShrinkwrap(lockfile: Lockfile): Lockfile {
  const { devDependencies: _, ...root } = lockfile.packages[''] ?? {};
  const others = Object.entries(lockfile.packages)
    .filter(([name, { dev, link }]) => name !== '' && !dev && !link && name !== `node_modules/${BUNDLED.without}`)
    .map(([name, entry]) => [name, name === `node_modules/${BUNDLED.name}` ? toBundledEntry(entry) : entry]);
  const packages = { '': { ...root, bundleDependencies: [BUNDLED.name] }, ...Object.fromEntries(others) };
  const scripted = Object.keys(packages).filter((name) => packages[name].hasInstallScript);
  if (scripted.length > 0) throw new Error(`packages with install scripts: ${scripted.join(', ')}`);
  return { ...lockfile, packages };
}

function toBundledEntry({ version, license }: Manifest): Manifest {
  return { version, inBundle: true, license };
}

function copyBundled(): void {
  const { name, files } = BUNDLED;
  const folder = path.join('node_modules', name);
  mkdirSync(path.join(staging, folder), { recursive: true });
  for (const file of files) cpSync(path.join(ROOT, folder, file), path.join(staging, folder, file));
  const { version, license, repository } = readJson<Manifest>(path.join(folder, 'package.json'));
  writeJson(path.join(folder, 'package.json'), { name, version, license, repository });
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as T;
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(path.join(staging, file), `${JSON.stringify(value, null, 2)}\n`);
}
