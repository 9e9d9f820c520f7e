// Upstreams that respond to every request with a body that does not end, as fast as the client reads it.

import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A line of about 64 KB. It is a JSON object, but not a valid record. */
const CHUNK = Buffer.from(`{"kind":"token","filler":"${'x'.repeat(65_000)}"}\n`);

export type Flood = {
  /** The URL of the upstream with this name. */
  urlOf(name: string): string;
  /** The number of requests to each upstream that was called, by name. */
  requests: ReadonlyMap<string, number>;
  /** From now on the upstreams refuse connections. */
  close(): void;
};

export async function startFlood(): Promise<Flood> {
  const requests = new Map<string, number>();
  const server = http.createServer((request, response) => {
    const [, name = ''] = (request.url ?? '').split('/');
    requests.set(name, (requests.get(name) ?? 0) + 1);
    response.writeHead(200, { 'content-type': 'application/json' });
    const fill = () => {
      while (!response.destroyed && response.write(CHUNK));
    };
    response.on('drain', fill).on('error', () => undefined);
    fill();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  const { port } = server.address() as AddressInfo;
  return { urlOf: (name) => `http://127.0.0.1:${port}/${name}`, requests, close };
}
