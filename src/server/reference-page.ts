// The API reference at /docs: a page that displays the served OpenAPI documents. The page must contact no host other than the service.
// Its configuration avoids that, and its Content-Security-Policy enforces it.

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from '../http/request-target.ts';

const PAGE_PATH = '/docs';
const SCRIPT_PATH = '/docs/reference.js';
/** The script changes only when the program does. */
const SCRIPT_MAX_AGE_S = 3_600;

/** URLs are relative to the page: the service may be published below a path. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Mercat API reference</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="app"></div>
    <noscript>This page needs JavaScript. It displays <a href="v1/openapi.json">v1/openapi.json</a>,
      <a href="api/v1/openapi.json">api/v1/openapi.json</a> and
      <a href="intake/v1/openapi.json">intake/v1/openapi.json</a>.</noscript>
    <script src="docs/reference.js"></script>
  </body>
</html>
`;

const CONFIGURATION = {
  sources: [
    { title: 'Marketplace', slug: 'marketplace', url: 'v1/openapi.json', default: true },
    { title: 'Store', slug: 'store', url: 'api/v1/openapi.json' },
    { title: 'Intake', slug: 'intake', url: 'intake/v1/openapi.json' },
  ],
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
};

type Script = { plain: Buffer; gzipped: Buffer; etag: string };

/** `baseUrl` is the server that the OpenAPI documents name. The page may send requests to it too. */
export function registerReferencePage(app: FastifyInstance, baseUrl: () => string): void {
  let script: Promise<Script> | null = null;
  const routeOptions = { schema: { hide: true } };

  app.get(PAGE_PATH, routeOptions, (request, reply) => {
    if (pathOf(request.url) !== PAGE_PATH) return reply.redirect('../docs', 301);
    return reply
      .headers({ ...SECURITY_HEADERS, 'content-security-policy': toPolicy(baseUrl()), 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(PAGE);
  });

  app.get(SCRIPT_PATH, routeOptions, async (request, reply) => {
    // The script is loaded at the first request, because loading takes a fifth of a second and 40 MB.
    script ??= loadScript();
    return sendScript(await script, request, reply);
  });
}

const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

function toPolicy(baseUrl: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The reference sets style attributes, which no hash or nonce can allow.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    `connect-src 'self' ${new URL(baseUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function sendScript(script: Script, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  void reply.headers({
    ...SECURITY_HEADERS,
    etag: script.etag,
    vary: 'Accept-Encoding',
    'cache-control': `public, max-age=${SCRIPT_MAX_AGE_S}`,
  });
  if (request.headers['if-none-match'] === script.etag) return reply.code(304).send();
  void reply.type('text/javascript; charset=utf-8');
  if (!/\bgzip\b(?!;q=0\b)/.test(request.headers['accept-encoding'] ?? '')) return reply.send(script.plain);
  return reply.header('content-encoding', 'gzip').send(script.gzipped);
}

/** The package provides its script only through a route, so the script is fetched from a Fastify instance that does not listen. */
async function loadScript(): Promise<Script> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const library = Fastify();
  await library.register(reference, { routePrefix: '/reference', configuration: { url: 'v1/openapi.json' } });
  const { rawPayload } = await library.inject('/reference/js/scalar.js');
  await library.close();
  const start = `\nScalar.createApiReference('#app', ${JSON.stringify(CONFIGURATION)});\n`;
  const plain = Buffer.concat([rawPayload, Buffer.from(start)]);
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return { plain, gzipped: await promisify(gzip)(plain), etag };
}
