// A host of metadata for tests, which serves documents by their path, fails on demand, and counts its requests.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type HostMode =
  | 'well'
  /** Accepts the connection and does not respond. */
  | 'hanging'
  /** Sends a byte from time to time. */
  | 'dripping'
  /** Sends a body without an end. */
  | 'endless'
  /** Sends HTML. */
  | 'lying'
  /** Sends a document that is nested very deep. */
  | 'deep'
  | 'failing'
  | 'rate-limiting'
  /** Closes each connection. */
  | 'dead';

export type MetadataHost = {
  /** Without a trailing slash. */
  url: string;
  /** The document, or the URL to which its path redirects, by path. */
  documents: Map<string, object | string>;
  /** The paths of all requests. */
  requests: string[];
  set(mode: HostMode): void;
};

const DRIP_MS = 20;
const CHUNK = Buffer.alloc(64 * 1024, 0x20);
const DEPTH = 50_000;

export async function startMetadataHost(t: TestContext): Promise<MetadataHost> {
  const documents = new Map<string, object | string>();
  const requests: string[] = [];
  let mode: HostMode = 'well';
  const server = http.createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    switch (mode) {
      case 'well':
        sendDocument(response, documents.get(path));
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const set = (next: HostMode) => {
    mode = next;
  };
  return { url: `http://127.0.0.1:${port}`, documents, requests, set };
}

function sendDocument(response: http.ServerResponse, document: object | string | undefined): void {
  if (document === undefined) response.writeHead(404).end();
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
