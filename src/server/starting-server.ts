// Holds the port of the service during its start, so that a second start fails immediately. `/livez` says that the process runs. A request
// for the stream gets an empty stream. Every other request gets a 503. For a browser that opens the console, the 503 has a page that reloads
// itself.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../platform/core/errors.ts';
import { sendErrorResponse, toErrorResponse } from '../platform/http/error-response.ts';
import { pathOf } from '../platform/http/request-target.ts';
import { isPagePath } from './console.ts';
import { answerHealthChecks } from './health.ts';
import type { ListenAddress } from './listen.ts';
import { toListenError } from './listen.ts';
import { isStream, sendEmptyStream } from '../market/explore/http/stream/empty-stream.ts';
import { createNodeServer } from './node-server.ts';

const STARTING = toErrorResponse(new ServiceError('unavailable', 'The service is starting, try again soon'));

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <meta name="color-scheme" content="light dark">
    <meta http-equiv="refresh" content="1">
    <title>Mercat is starting</title>
  </head>
  <body>
    <h1>Mercat is starting</h1>
    <p>This page loads again by itself. The first start creates the database, which takes a few seconds.</p>
  </body>
</html>
`;

function isOpenedInBrowser({ method, headers, url = '' }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html') && isPagePath(pathOf(url));
}

function sendPage(response: ServerResponse): void {
  const { status, headers } = STARTING;
  const more = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'" };
  response.writeHead(status, { ...headers, ...more }).end(PAGE);
}

/**
 * Listens until the returned object is disposed. Must be called before databases are created, so that a start that fails leaves no new database.
 * Port 0 is not held, because it stands for any free port. Throws OperatorError if the server cannot listen on the address.
 */
export async function holdPort(address: ListenAddress): Promise<HeldPort> {
  let doing = '';
  const findObstacle = () => Promise.resolve(`The service is starting${doing === '' ? '' : `: ${doing}`}`);
  const server = createNodeServer(
    answerHealthChecks({ findObstacle }, (request, response) => {
      // An EventSource connects again only after the status 200.
      if (isStream(request.url ?? '')) sendEmptyStream(response);
      else if (isOpenedInBrowser(request)) sendPage(response);
      else sendErrorResponse(request, response, STARTING);
    }),
    // The connections end with this server. A client that kept one would lose its next request.
    { isDraining: () => true },
  );
  try {
    await once(server.listen(address), 'listening');
  } catch (error) {
    throw toListenError(address, error);
  }
  const bound = server.address();
  const port = typeof bound === 'object' && bound ? bound.port : address.port;
  const release = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  if (address.port === 0) await release();
  const announce = (text: string) => {
    doing = text;
  };
  return { port, announce, [Symbol.asyncDispose]: release };
}

/**
 * Returns the port of the address, or a free port for port 0. Throws OperatorError if a server cannot listen on the address. Nothing listens on
 * the address afterwards.
 */
export async function requireFreePort(address: ListenAddress): Promise<number> {
  const held = await holdPort(address);
  await held[Symbol.asyncDispose]();
  return held.port;
}

type HeldPort = AsyncDisposable & {
  port: number;
  /** `/readyz` responds with this text from now on. It is public. */
  announce(text: string): void;
};
