// Builds the web console into console/dist, unless the built files are newer than everything that they are made from. This program must run
// on every version of Node.js from 20.19 on, because `npm start` runs this program before the pinned version of Node.js is used. Without
// the development packages, the built files stay as they are.

import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** Everything that the built files depend on. */
const SOURCES = [
  'console/src',
  'console/index.html',
  'console/first-paint.mjs',
  'console/vite.config.mjs',
  'client',
  'package-lock.json',
];
const BUILT = path.join(ROOT, 'console/dist/index.html');

if (!process.argv.includes('--force') && isUpToDate()) process.exit(0);
const vite = await loadVite();
if (vite === null) {
  if (!existsSync(BUILT))
    console.error('The web console is not built, because its build needs the development packages.');
  process.exit(0);
}
const startedAt = performance.now();
await vite.build({ configFile: path.join(ROOT, 'console/vite.config.mjs'), logLevel: 'warn' });
console.error(`The web console was built in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`);

function isUpToDate() {
  if (!existsSync(BUILT)) return false;
  const builtAt = statSync(BUILT).mtimeMs;
  return SOURCES.every((source) => newestIn(path.join(ROOT, source)) <= builtAt);
}

/** The newest time of change in a file or folder. */
function newestIn(location) {
  if (!existsSync(location)) return 0;
  const status = statSync(location);
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(location).map((name) => newestIn(path.join(location, name))));
}

/** Null if Vite is not installed. */
async function loadVite() {
  try {
    return await import('vite');
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  }
}
