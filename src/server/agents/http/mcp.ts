// POST /mcp: the MCP server over its streamable HTTP transport. GET /mcp/server.json: its description in the form that registries of MCP
// servers read.

import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../platform/core/errors.ts';
import { loadOnce } from '../../../platform/core/load-once.ts';
import { isSliceOver, nextSlice } from '../../../platform/core/slices.ts';
import type { McpOptions } from '../mcp-server.ts';
import type { PublicRead } from '../public-read.ts';

export const MCP_PATH = '/mcp';
const DESCRIPTION_PATH = `${MCP_PATH}/server.json`;

/** The largest body accepted. A call has a few hundred bytes. */
const BODY_BYTES_MAX = 64 * 1024;
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

export type McpRouteOptions = McpOptions & {
  /** Returns the function that reads on behalf of the client of a request. */
  readFor: (request: FastifyRequest) => PublicRead;
  baseUrl: () => string;
};

/** `app` must be a Fastify scope of its own, because its parsers of bodies are replaced. */
export function registerMcpRoute(app: FastifyInstance, options: McpRouteOptions): void {
  // Loading the SDK takes a tenth of a second of the event loop, so it is loaded before the server listens, and only where there is a server.
  const load = loadOnce(async () => (await import('../mcp-server.ts')).createMcpResponder(options));
  app.addHook('onReady', async () => void (await load()));

  app.get(DESCRIPTION_PATH, { config: { bucket: 'single' }, schema: { hide: true } }, (_request, reply) =>
    reply.header('access-control-allow-origin', '*').send(describeServer(options)),
  );
  app.removeAllContentTypeParsers();
  // The SDK parses the body, and reports malformed JSON as the protocol requires.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: Error & { code?: string }) => {
    if (!error.code?.startsWith('FST_ERR_CTP_')) throw error;
    throw new ServiceError('bad_request', 'The body must be a JSON-RPC message of at most 64 KiB', { cause: error });
  });
  app.post(
    MCP_PATH,
    { config: { bucket: 'message' }, bodyLimit: BODY_BYTES_MAX, schema: { hide: true } },
    async (request, reply) => {
      checkOrigin(request.headers.origin, options.baseUrl());
      rejectBatch(request.body);
      const respond = await load();
      // A message takes one to two milliseconds of CPU time, so many messages that arrive together share the event loop with other requests.
      if (isSliceOver()) await nextSlice();
      return sendResponse(reply, await respond(toWebRequest(request), options.readFor(request)));
    },
  );
}

/** The version of the schema of `server.json`: https://modelcontextprotocol.io/registry/remote-servers. */
const SERVER_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

/** Throws `not_found` at an address without a domain. */
function describeServer({ version, baseUrl }: McpRouteOptions): object {
  const url = baseUrl().replace(/\/$/, '');
  const namespace = toNamespace(new URL(url).hostname);
  if (namespace === null) {
    throw new ServiceError(
      'not_found',
      'A registry names a server by its domain. Set BASE_URL to the public address of the service, with a domain',
    );
  }
  return {
    $schema: SERVER_SCHEMA,
    name: `${namespace}/mercat`,
    title: 'Mercat',
    description: 'NFT market data, read-only: collections, floors, listings, sales, tokens, wallets and orders.',
    version,
    websiteUrl: `${url}/docs/agents.md`,
    remotes: [{ type: 'streamable-http', url: url + MCP_PATH }],
  };
}

/** A domain whose last label has a letter, so that it is no IP address. The URL parser has put it into lower case, and international names into ASCII. */
const DOMAIN = /^([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]*$/;

/** The domain in reverse, with which the name of the server begins. Null for an IP address, and for a name of the local network. */
function toNamespace(hostname: string): string | null {
  return DOMAIN.test(hostname) ? hostname.split('.').toReversed().join('.') : null;
}

/**
 * Rejects requests of web pages on other hosts, as the transport requires against DNS rebinding. Programs send no `Origin`. Pages of this
 * service and of the local machine are allowed.
 */
function checkOrigin(origin: string | undefined, baseUrl: string): void {
  if (origin === undefined) return;
  const url = URL.parse(origin);
  if (url && (url.origin === new URL(baseUrl).origin || LOOPBACK_HOSTS.has(url.hostname))) return;
  throw new ServiceError(
    'forbidden',
    'Web pages of other hosts cannot use /mcp. They can use /v1 and /explore/v1, which allow every origin',
  );
}

/** A batch could contain many calls, but would count as one request. The protocol has no batches since its version 2025-06-18. */
function rejectBatch(body: unknown): void {
  // A body may begin with a byte order mark, which the SDK ignores. `\s` matches it too.
  const isBatch = Buffer.isBuffer(body) && /^\s*\[/.test(body.toString());
  if (isBatch)
    throw new ServiceError('bad_request', 'Batches are not supported: send one JSON-RPC message per request');
}

function toWebRequest(request: FastifyRequest): Request {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  const body = Buffer.isBuffer(request.body) ? new Uint8Array(request.body) : null;
  // A `Request` needs a complete URL. Nothing reads its host.
  return new Request(`http://localhost${MCP_PATH}`, { method: 'POST', headers, body });
}

function sendResponse(reply: FastifyReply, { status, headers, body }: Response): FastifyReply {
  void reply.code(status).headers(Object.fromEntries(headers)).header('cache-control', 'no-store');
  return reply.send(body ? Readable.fromWeb(body) : '');
}
