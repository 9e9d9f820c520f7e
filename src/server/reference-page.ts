// The API reference at /docs: Swagger UI with the served OpenAPI documents. The page contacts no host but the service. Its
// Content-Security-Policy enforces this.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { loadOnce } from '../platform/core/load-once.ts';
import { pathOf } from '../platform/http/request-target.ts';
import { SECURITY_HEADERS, sendAsset, toAsset } from './static-asset.ts';

const PAGE_PATH = '/docs';

/**
 * The HTML of the page. Its URLs are relative, because the service may be published below a path. START finds the documents through the
 * links in `nav`.
 */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Mercat API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/reference.css">
  </head>
  <body>
    <nav>
      <a href="docs?api=marketplace" data-document="v1/openapi.json">Marketplace</a>
      <a href="docs?api=explore" data-document="explore/v1/openapi.json">Explore</a>
      <a href="docs?api=store" data-document="api/v1/openapi.json">Store</a>
      <a href="docs?api=intake" data-document="intake/v1/openapi.json">Intake</a>
    </nav>
    <div id="reference"></div>
    <noscript>This page needs JavaScript. It displays <a href="v1/openapi.json">v1/openapi.json</a>,
      <a href="explore/v1/openapi.json">explore/v1/openapi.json</a>,
      <a href="api/v1/openapi.json">api/v1/openapi.json</a> and
      <a href="intake/v1/openapi.json">intake/v1/openapi.json</a>.</noscript>
    <script src="docs/reference.js"></script>
  </body>
</html>
`;

/** Displays the document of `?api=`, or else the first document. Follows the browser's choice of a light or dark theme. */
const START = `
{
  const links = Array.from(document.querySelectorAll('nav a'));
  const api = new URLSearchParams(location.search).get('api');
  const link = links.find(({ search }) => new URLSearchParams(search).get('api') === api) ?? links[0];
  link.setAttribute('aria-current', 'page');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', applyTheme);
  applyTheme();
  SwaggerUIBundle({
    url: link.dataset.document,
    domNode: document.getElementById('reference'),
    deepLinking: true,
    displayRequestDuration: true,
    queryConfigEnabled: false,
    validatorUrl: null,
  });
}
`;

const STYLE = `
body { margin: 0; }
nav { display: flex; gap: 24px; max-width: 1460px; margin: 0 auto; padding: 16px 20px 0; font: 16px sans-serif; }
nav a { color: #2f5fb3; text-decoration: none; }
nav a[aria-current] { color: inherit; font-weight: bold; }
.dark-mode { background: #1c2022; color: #e4e6e6; }
.dark-mode nav a { color: #8ab4f8; }
`;

/** The page may send requests to its own origin and to `baseUrl`, the server in the OpenAPI documents. */
export function registerReferencePage(app: FastifyInstance, baseUrl: () => string): void {
  const routeOptions = { config: { bucket: 'single' } as const, schema: { hide: true } };

  app.get(PAGE_PATH, routeOptions, (request, reply) => {
    if (pathOf(request.url) !== PAGE_PATH) return reply.redirect('../docs', 301);
    return reply
      .headers({ ...SECURITY_HEADERS, 'content-security-policy': toPolicy(baseUrl()), 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(PAGE);
  });

  const registerAsset = (path: string, type: string, load: () => Promise<string>) => {
    // Loaded at the first request, because most processes never display the page.
    const loadAsset = loadOnce(async () => toAsset(type, await load()));
    app.get(path, routeOptions, async (request, reply) => sendAsset(await loadAsset(), request, reply));
  };
  const script = import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js');
  const style = import.meta.resolve('swagger-ui-dist/swagger-ui.css');
  registerAsset('/docs/reference.js', 'text/javascript', async () => (await readBundle(script)) + START);
  registerAsset('/docs/reference.css', 'text/css', async () => (await readBundle(style)) + STYLE);
}

function toPolicy(baseUrl: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${new URL(baseUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** A file of Swagger UI without its last line: the URL of a source map, which is not served. */
async function readBundle(url: string): Promise<string> {
  const file = await readFile(fileURLToPath(url), 'utf8');
  return file.replace(/\n\/[/*]# sourceMappingURL=.*$/, '');
}
