// How Vite builds the web console, and serves it while it is developed (`npm run console`).

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { defineConfig } from 'vite';

/** Where `npm run console` finds the service. */
const SERVICE_URL = process.env['SERVICE_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  // URLs in the page are relative to its `<base>`, which the service sets.
  base: './',
  plugins: [fontLicense()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    // The names of the files contain digests of their content. src/server/console.ts serves them below /console/.
    assetsDir: 'console',
    assetsInlineLimit: 0,
    // The first versions with `light-dark()` in CSS.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    license: { fileName: 'licenses.md' },
    // An inline script would be against the Content-Security-Policy.
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/explore/v1', '/api/v1', '/intake/v1', '/status', '/livez', '/readyz'].map((path) => [
        path,
        SERVICE_URL,
      ]),
    ),
  },
});

/** The licence of the font has to accompany the font. Vite collects the licences of scripts only. */
function fontLicense() {
  const file = createRequire(import.meta.url).resolve('@fontsource-variable/geist/LICENSE');
  return {
    name: 'font-license',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'font-license.txt', source: readFileSync(file) });
    },
  };
}
