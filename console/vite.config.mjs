// How Vite builds the web console, and serves it while it is developed (`npm run console`).

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { defineConfig } from 'vite';
import { firstPaint } from './first-paint.mjs';

/** Where `npm run console` finds the service. */
const SERVICE_URL = process.env['SERVICE_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  // URLs in the page are relative to its `<base>`, which the service sets.
  base: './',
  plugins: [firstPaint(), fontPreload(), fontLicense()],
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
    // What the first page needs is one file, because each file takes the browser time before the first paint.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: nameOfFirst, debugName: 'first' }] } } },
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

/** The name of the file with all modules that the entry imports, except those that it imports when they are needed. */
function nameOfFirst(id, context) {
  return modulesOfFirst(context).has(id) ? 'first' : null;
}

let known = null;

function modulesOfFirst(context) {
  if (known) return known;
  known = new Set([path.join(import.meta.dirname, 'src/main.tsx')]);
  // A set also visits what is added meanwhile.
  for (const id of known) for (const imported of context.getModuleInfo(id)?.importedIds ?? []) known.add(imported);
  return known;
}

/** Lets the browser request the font with the styles, and not only after it has applied them. */
function fontPreload() {
  return {
    name: 'font-preload',
    transformIndexHtml: {
      order: 'post',
      handler: (_page, { bundle }) =>
        Object.keys(bundle ?? {})
          .filter((file) => file.endsWith('.woff2'))
          .map((file) => ({
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: `./${file}` },
            injectTo: 'head',
          })),
    },
  };
}

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
