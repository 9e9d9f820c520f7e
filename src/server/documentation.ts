// Serves the documentation for agents: `/llms.txt` (https://llmstxt.org) lists it, and each page of `docs/` is served as Markdown. The files are
// read at the first request.

import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { MCP_PATH } from './agents/http/mcp.ts';
import { ServiceError } from '../platform/core/errors.ts';
import { loadOnce } from '../platform/core/load-once.ts';
import { EXPLORE_PREFIX } from '../market/explore/http/routes.ts';
import { INTAKE_PREFIX } from '../intake/http/routes.ts';
import { MARKETPLACE_PREFIX } from '../market/reads/http/routes.ts';
import { STORE_PREFIX } from '../shop/http/routes.ts';
import type { StaticAsset } from './static-asset.ts';
import { sendAsset, toAsset } from './static-asset.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Each page is served under its path in the repository, so that links between pages work. */
const PAGES = ['SECURITY.md', 'CHANGELOG.md', 'docs/*.md', 'docs/decisions/*.md'];
const ROUTES = ['/llms.txt', '/SECURITY.md', '/CHANGELOG.md', '/docs/:page', '/docs/decisions/:page'];

/** `file`: the name of the OpenAPI document in the repository. Pages link to this document. */
const INTERFACES = [
  {
    file: 'marketplace',
    prefix: MARKETPLACE_PREFIX,
    note: 'public market data: collections, floors, listings, sales and tokens',
  },
  {
    file: 'explore',
    prefix: EXPLORE_PREFIX,
    note: 'public data for pages about collections, tokens, wallets and orders',
  },
  { file: 'store', prefix: STORE_PREFIX, note: 'products, stock and webhooks of a shop, with an API key' },
  { file: 'intake', prefix: INTAKE_PREFIX, note: 'import of records and submission of signed orders, with an API key' },
];

type Page = { name: string; text: string };

export function registerDocumentation(app: FastifyInstance, baseUrl: () => string): void {
  const load = loadOnce(() => loadAssets(baseUrl()));
  for (const route of ROUTES) {
    app.get<{ Params: { page?: string } }>(
      route,
      { config: { bucket: 'single' }, schema: { hide: true } },
      async (request, reply) => {
        const name = route.slice(1).replace(':page', request.params.page ?? '');
        const asset = (await load()).get(name);
        if (!asset) throw new ServiceError('not_found', 'Not found');
        return sendAsset(asset, request, reply);
      },
    );
  }
}

async function loadAssets(baseUrl: string): Promise<Map<string, StaticAsset>> {
  const names = globSync(PAGES, { cwd: ROOT }).map((name) => name.replaceAll(path.sep, '/'));
  const pages = await Promise.all(
    names.sort().map(async (name) => ({ name, text: await readFile(path.join(ROOT, name), 'utf8') })),
  );
  const assets = pages.map(
    async ({ name, text }) => [name, await toAsset('text/markdown', withServedLinks(text))] as const,
  );
  const index = toAsset('text/plain', toIndex(pages, baseUrl));
  return new Map([['llms.txt', await index], ...(await Promise.all(assets))]);
}

/** Pages link to the OpenAPI documents of the repository. The service has them at other paths. */
function withServedLinks(text: string): string {
  return INTERFACES.reduce(
    (linked, { file, prefix }) => linked.replaceAll(`](../openapi/${file}.json)`, `](..${prefix}/openapi.json)`),
    text,
  );
}

function toIndex(pages: readonly Page[], baseUrl: string): string {
  const isOptional = ({ name }: Page) => !/^docs\/(?!adding-|decisions\/)/.test(name);
  const link = (title: string, target: string, note: string) => `- [${title}](${baseUrl}${target}): ${note}`;
  const linkPage = ({ name, text }: Page) => link(titleOf(text), `/${name}`, firstSentenceOf(text));
  return `${[
    '# Mercat',
    '',
    '> NFT market data on an index that the operator owns: collections, floors, merged listings, sales, tokens, wallets and orders on seven ' +
      'chains. Reading needs no API key.',
    '',
    'Amounts are integers of base units in text. Null means unknown, never zero.',
    '',
    '## Interfaces',
    '',
    link('MCP server', MCP_PATH, 'the public reads as tools for agents, over streamable HTTP'),
    ...INTERFACES.map(({ file, prefix, note }) => link(`OpenAPI: ${file}`, `${prefix}/openapi.json`, note)),
    '',
    '## Docs',
    '',
    ...pages.filter((page) => !isOptional(page)).map(linkPage),
    '',
    '## Optional',
    '',
    ...pages.filter(isOptional).map(linkPage),
  ].join('\n')}\n`;
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? '';
}

/** The first sentence of the first paragraph, without the date of a decision. Only the text of each link is kept. */
function firstSentenceOf(text: string): string {
  const paragraph = text.split(/\n{2,}/).find((one) => /^(?!Date: )[^#|\s]/.test(one)) ?? '';
  const plain = paragraph.replaceAll('\n', ' ').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return /^.*?[.:](?=\s|$)/.exec(plain)?.[0] ?? plain;
}
