// A host of metadata for tests. The host serves documents by their path, fails on demand, and records the paths of all requests.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type HostMode =
  | 'well'
  /** Sends each document some time after its request. */
  | 'slow'
  /** Accepts the connection and does not respond. */
  | 'hanging'
  /** Sends a byte from time to time. */
  | 'dripping'
  /** Sends a body without an end. */
  | 'endless'
  /** Sends HTML with the content type of JSON. */
  | 'lying'
  /** Sends an error message as a JSON object, with the status 200. */
  | 'error-object'
  /** Sends a document that is nested very deep. */
  | 'deep'
  | 'failing'
  | 'rate-limiting'
  /** Closes each connection. */
  | 'dead';

export type MetadataHost = {
  /** Without a trailing slash. */
  url: string;
  /** The response by path. An object is sent as a JSON document, a string is the URL of a redirect, and a Buffer is sent as it is. */
  documents: Map<string, object | string | Buffer>;
  /** Modes that apply to a path in place of the mode of the host. */
  modes: Map<string, HostMode>;
  /** The paths of all requests. */
  requests: string[];
  /** The most bytes that were sent in one of the connections that have closed. */
  sentMax(): number;
  set(mode: HostMode): void;
};

const DRIP_MS = 20;
const SLOW_MS = 100;
const CHUNK = Buffer.alloc(64 * 1024, 0x20);
const DEPTH = 50_000;

export async function startMetadataHost(t: TestContext): Promise<MetadataHost> {
  const documents = new Map<string, object | string | Buffer>();
  const modes = new Map<string, HostMode>();
  const requests: string[] = [];
  let mode: HostMode = 'well';
  let sentMax = 0;
  const server = http.createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    switch (modes.get(path) ?? mode) {
      case 'well':
        sendDocument(response, documents.get(path));
        return;
      case 'slow':
        setTimeout(() => sendDocument(response, documents.get(path)), SLOW_MS);
        return;
      case 'hanging':
        return;
      case 'dead':
        request.socket.destroy();
        return;
      case 'dripping':
        drip(response);
        return;
      case 'endless':
        sendEndless(response);
        return;
      case 'lying':
        response.setHeader('content-type', 'application/json').end('<html><body>Not your token</body></html>');
        return;
      case 'error-object':
        sendDocument(response, { error: 'Too many requests' });
        return;
      case 'deep':
        response.end(`{"name":"Deep","attributes":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`);
        return;
      case 'failing':
        response.writeHead(503).end();
        return;
      case 'rate-limiting':
        response.writeHead(429, { 'retry-after': '1' }).end();
        return;
    }
  });
  server.on('connection', (socket) => {
    socket.once('close', () => {
      sentMax = Math.max(sentMax, socket.bytesWritten);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const set = (next: HostMode) => {
    mode = next;
  };
  return { url: `http://127.0.0.1:${port}`, documents, modes, requests, sentMax: () => sentMax, set };
}

function sendDocument(response: http.ServerResponse, document: object | string | Buffer | undefined): void {
  if (document === undefined) response.writeHead(404).end();
  else if (Buffer.isBuffer(document)) response.setHeader('content-type', 'application/json').end(document);
  else if (typeof document === 'string') response.writeHead(302, { location: document }).end();
  else response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
}

function drip(response: http.ServerResponse): void {
  const timer = setInterval(() => response.write(' '), DRIP_MS);
  response.once('close', () => clearInterval(timer));
}

function sendEndless(response: http.ServerResponse): void {
  const send = () => {
    while (!response.destroyed && response.write(CHUNK));
  };
  response.on('drain', send);
  send();
}
