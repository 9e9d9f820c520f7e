// Serves the web console: one HTML page for all its paths, and the files that `npm run build` has written for it (console/dist). The
// console reads the public interfaces like any other client; no interface depends on it.

import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isNotModified } from '../platform/http/cached-response.ts';
import { EncodedBodies, chooseCoding } from '../platform/http/content-coding.ts';
import { isBelow, pathOf } from '../platform/http/request-target.ts';
import type { DescribedPage, ImageGateways, PageDescription, PageParams } from './page-description.ts';
import { PageDescriptions } from './page-description.ts';

/** Where `npm run build` writes the console. The folder has the same place in the npm package and in the image. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../console/dist/', import.meta.url));
const PAGE_FILE = 'index.html';
/** Below this path are the files whose names contain a digest of their content. */
const ASSETS_PATH = '/console/';
/** The paths of the console. Each gets the same HTML page, whose scripts read the parameters from the URL. */
const PAGE_PATHS = [
  '/',
  '/c/:id',
  '/t/:chain/:address/:id',
  '/o/:id',
  '/w/:address',
  '/shop',
  '/shop/:section',
  '/shop/:section/:id',
  '/service',
  '/service/:section',
];
/** Whether the path is `/`, or begins with the first segment of another path of the console, such as `/c`. */
export function isPagePath(path: string): boolean {
  return PAGE_PATHS.some((page) => page === path || (page !== '/' && isBelow(path, `/${page.split('/')[1]}`)));
}

/**
 * The part of the page that shows the market before the scripts have run (console/first-paint.mjs). Only the response to the path `/`
 * has this part.
 */
const FIRST_PAINT = /<!--first paint of the market-->.*<!--end of the first paint-->/s;
const FIRST_PAINT_PATH = '/';
const ONE_YEAR_S = 31_536_000;

/** Content types by extension. A built file of another type is not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};
/** Files of these types are compressed already. */
const ENCODED_TYPES = new Set(['.woff2', '.png']);

/** The folder of the built console. Null if it has not been built. */
export function findConsole(folder = CONSOLE_FOLDER): string | null {
  return existsSync(path.join(folder, PAGE_FILE)) ? folder : null;
}

export type ConsoleOptions = {
  /** The folder of the built console. */
  folder: string;
  /** The URL at which browsers reach the service. Its path is the base of all links of the page. */
  baseUrl: () => string;
  imageGateways: ImageGateways;
};

/**
 * Registers the routes of the page and of the files, which are read now. So a build that replaces the folder does not take away the files that
 * the served page names, and that open tabs load later.
 */
export function registerConsole(app: FastifyInstance, { folder, baseUrl, imageGateways }: ConsoleOptions): void {
  const routeOptions = { config: { bucket: 'single' } as const, schema: { hide: true } };
  const page = withGateways(readFileSync(path.join(folder, PAGE_FILE), 'utf8'), imageGateways);

  const descriptions = new PageDescriptions(app, imageGateways);
  const described: Readonly<Record<string, (params: PageParams) => Promise<DescribedPage>>> = {
    '/c/:id': (params) => descriptions.ofCollection(params),
    '/t/:chain/:address/:id': (params) => descriptions.ofToken(params),
  };
  for (const pagePath of PAGE_PATHS) {
    const pageOfPath = pagePath === FIRST_PAINT_PATH ? page : page.replace(FIRST_PAINT, '');
    const describe = described[pagePath];
    app.get(pagePath, routeOptions, async (request, reply) => {
      const description = describe ? await describe(request.params as PageParams) : null;
      // A page that is not found also gets the scripts, which say what was not found.
      if (description === 'missing') void reply.code(404);
      const url = `${baseUrl()}${pathOf(request.url)}`;
      const content = description === 'missing' ? pageOfPath : withDescription(pageOfPath, description, url);
      return sendPage(toPage(content, baseUrl()), request, reply);
    });
  }
  for (const [name, asset] of readAssets(path.join(folder, ASSETS_PATH)))
    app.get(`${ASSETS_PATH}${name}`, routeOptions, (request, reply) => sendAsset(asset, request, reply));
}

/** The page contains the gateways as `ipfs=URL ar=URL`. A URL has no blank. */
function withGateways(page: string, gateways: ImageGateways): string {
  const content = Object.entries(gateways).map(([scheme, url]) => `${scheme}=${url}`);
  return page.replace(
    'name="image-gateways" content=""',
    `name="image-gateways" content="${escapeHtml(content.join(' '))}"`,
  );
}

/** Replaces the title of the page by the title and the tags of the Open Graph protocol (https://ogp.me). */
function withDescription(page: string, description: PageDescription | null, url: string): string {
  if (description === null) return page;
  const { title, text, image } = description;
  const tags = [
    `<title>${escapeHtml(title)} · Mercat</title>`,
    ...(text === '' ? [] : [`<meta name="description" content="${escapeHtml(text)}" />`]),
    ...Object.entries({
      'og:site_name': 'Mercat',
      'og:type': 'website',
      'og:title': title,
      'og:description': text,
      'og:url': url,
      'og:image': image ?? '',
    }).flatMap(([name, content]) =>
      content === '' ? [] : [`<meta property="${name}" content="${escapeHtml(content)}" />`],
    ),
  ];
  // A function, because a text of a record can contain the patterns of a replacement, such as $&.
  return page.replace(/<title>.*?<\/title>/s, () => tags.join(''));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Links in the page are relative to `<base>`, because the service may be published below a path. */
function toPage(page: string, baseUrl: string): string {
  const basePath = new URL(`${baseUrl}/`).pathname;
  return page.replace('<base href="/" />', `<base href="${basePath}" />`);
}

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/**
 * The page loads scripts, styles and fonts only from this service, and sends requests only to this service. Pictures come from the hosts
 * that records name (docs/security.md). On a page that is served by https, browsers block `http:` pictures.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "img-src 'self' data: https: http:",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function sendPage(page: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const etag = toEtag(page);
  void reply.headers({
    ...SECURITY_HEADERS,
    'content-security-policy': POLICY,
    // The page names the files of one build, so a browser must check that its copy of the page is current.
    'cache-control': 'no-cache',
    etag,
  });
  if (reply.statusCode === 200 && isNotModified(request.headers, etag)) return reply.code(304).send();
  return reply.type('text/html; charset=utf-8').send(page);
}

async function sendAsset(asset: Asset, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  void reply.headers({
    ...SECURITY_HEADERS,
    'cache-control': `public, max-age=${ONE_YEAR_S}, immutable`,
    etag: asset.etag,
    ...(asset.encoded && { vary: 'Accept-Encoding' }),
  });
  if (isNotModified(request.headers, asset.etag)) return reply.code(304).send();
  void reply.type(asset.type);
  const coding = asset.encoded && chooseCoding(request.headers['accept-encoding']);
  if (!asset.encoded || !coding) return reply.send(asset.plain);
  return reply.header('content-encoding', coding).send(await asset.encoded.get(coding));
}

type Asset = { type: string; plain: Buffer; encoded: EncodedBodies | null; etag: string };

/** The built files, by name. */
function readAssets(folder: string): Map<string, Asset> {
  const names = globSync('*', { cwd: folder }).filter((name) => TYPES[path.extname(name)] !== undefined);
  return new Map(names.map((name) => [name, readAsset(path.join(folder, name))]));
}

function readAsset(file: string): Asset {
  const extension = path.extname(file);
  const plain = readFileSync(file);
  const encoded = ENCODED_TYPES.has(extension) ? null : new EncodedBodies(plain);
  return { type: TYPES[extension] ?? '', plain, encoded, etag: toEtag(plain) };
}

function toEtag(content: string | Buffer): string {
  return `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}
