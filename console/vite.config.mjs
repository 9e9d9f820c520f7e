// Configures how Vite builds the web console, and how its development server serves the console (`npm run console`).

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { defineConfig } from 'vite';
import { firstPaint } from './first-paint.mjs';

/** The URL of the service to which the development server forwards API requests. */
const SERVICE_URL = process.env['SERVICE_URL'] ?? 'http://127.0.0.1:8080';

const MARKET_PAGES = [
  'src/market/collection/collection-page.tsx',
  'src/market/token-page.tsx',
  'src/market/wallet-page.tsx',
];

export default defineConfig({
  root: import.meta.dirname,
  // URLs in the page are relative to its `<base>`, which the service sets.
  base: './',
  plugins: [firstPaint(), fontPreload(), fontLicense(), webManifest()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    // The names of the files contain digests of their content. src/server/console.ts serves them below /console/.
    assetsDir: 'console',
    assetsInlineLimit: 0,
    // The styles of all pages are one small file. With a file for each page, a page would need more requests than bytes.
    cssCodeSplit: false,
    // The first versions of these browsers that support `light-dark()` in CSS.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    license: { fileName: 'licenses.md' },
    // In kB. The page for files of products has the letters of all scripts, from which slugs are made.
    chunkSizeWarningLimit: 700,
    // The Content-Security-Policy forbids inline scripts.
    modulePreload: { polyfill: false },
    // All modules that the first page needs are in one file, because each further file would delay the first paint. The other pages of the
    // market share most of their modules, and are a second file.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: toName('first', ['src/main.tsx']), debugName: 'first', priority: 2 },
            { name: toName('market', MARKET_PAGES), debugName: 'market', priority: 1 },
          ],
        },
      },
    },
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

/** Puts the files, and all modules that they import statically, into the file `name`. Modules that are imported on demand are not in it. */
function toName(name, files) {
  let known = null;
  return (id, context) => {
    known ??= modulesOf(files, context);
    return known.has(id) ? name : null;
  };
}

function modulesOf(files, context) {
  const known = new Set(files.map((file) => path.join(import.meta.dirname, file)));
  // The loop also visits the ids that are added to the set while it runs.
  for (const id of known) for (const imported of context.getModuleInfo(id)?.importedIds ?? []) known.add(imported);
  return known;
}

/** Makes the browser request the font together with the styles. Without a preload, it requests the font only after it has the styles. */
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

const ICON_SIZES = [192, 512];

/** The manifest with which a browser installs the console. It names the icons by their built names, relative to its own URL. */
function webManifest() {
  const toManifest = (icons) => ({
    name: 'Mercat',
    short_name: 'Mercat',
    start_url: '../',
    scope: '../',
    display: 'standalone',
    background_color: '#f7f5f0',
    theme_color: '#2746c7',
    icons,
  });
  return {
    name: 'web-manifest',
    generateBundle() {
      const icons = ICON_SIZES.map((size) => {
        const source = readFileSync(path.join(import.meta.dirname, `src/shell/icon-${size}.png`));
        const file = this.getFileName(this.emitFile({ type: 'asset', name: `icon-${size}.png`, source }));
        return { src: `./${path.basename(file)}`, sizes: `${size}x${size}`, type: 'image/png' };
      });
      const source = JSON.stringify(toManifest(icons));
      this.emitFile({ type: 'asset', name: 'console.webmanifest', source });
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_page, { bundle }) =>
        Object.keys(bundle ?? {})
          .filter((file) => file.endsWith('.webmanifest'))
          .map((file) => ({ tag: 'link', attrs: { rel: 'manifest', href: `./${file}` }, injectTo: 'head' })),
    },
  };
}
