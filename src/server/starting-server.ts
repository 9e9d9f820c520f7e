// Holds the port of the service during its start, so that a second start fails immediately. `/livez` says that the process runs. A request
// for the stream gets an empty stream. Every other request gets a 503. For a browser that opens the console, the 503 has a page that reloads
// itself.

import { createHash } from 'node:crypto';
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

/** The look of the console (console/src/style/tokens.css), in the fonts of the system. */
const STYLE = `
  :root { color-scheme: light dark; }
  body { display: grid; place-content: center; justify-items: center; gap: 8px; min-height: 100vh; margin: 0; padding: 24px;
    box-sizing: border-box; color: light-dark(#1d1b18, #edeae3); background: light-dark(#f7f5f0, #131312);
    font: 14px/20px system-ui, sans-serif; text-align: center; }
  svg { margin-bottom: 8px; color: light-dark(#2746c7, #9db0ff); }
  h1 { margin: 0; font-size: 20px; line-height: 28px; font-weight: 600; }
  p { max-width: 46ch; margin: 0; color: light-dark(#68645a, #a19d92); }
`;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta http-equiv="refresh" content="1">
    <title>Mercat is starting</title>
    <style>${STYLE}</style>
  </head>
  <body>
    <svg viewBox="0 0 32 32" width="48" height="48" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="currentColor"/>
      <path d="M7 14.5 9.4 8h13.2l2.4 6.5a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0Z" fill="Canvas"/>
      <path d="M9.5 19.5V24h13v-4.5" fill="none" stroke="Canvas" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/>
    </svg>
    <main>
      <h1>Mercat is starting</h1>
      <p role="status">This page loads again by itself. The first start creates the database, which takes a few seconds.</p>
    </main>
  </body>
</html>
`;

const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64');
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'`;

function isOpenedInBrowser({ method, headers, url = '' }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html') && isPagePath(pathOf(url));
}

function sendPage(response: ServerResponse): void {
  const { status, headers } = STARTING;
  const more = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY };
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
