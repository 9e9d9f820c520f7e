// A JSON-RPC endpoint on loopback. A function of the test decides when a request is forwarded to another endpoint.

import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type GatedEndpoint = { url: string; close(): Promise<void> };

/** `gate` is called with the methods of each request. The request is forwarded when the returned promise is fulfilled. */
export async function startGatedEndpoint(
  targetUrl: string,
  gate: (methods: readonly string[]) => Promise<void>,
): Promise<GatedEndpoint> {
  const forward = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
    const calls = [JSON.parse(body) as { method: string } | { method: string }[]].flat();
    await gate(calls.map(({ method }) => method));
    const headers = { 'content-type': 'application/json' };
    const forwarded = await fetch(targetUrl, { method: 'POST', headers, body });
    response.writeHead(200, headers).end(await forwarded.text());
  };
  const server = http.createServer((request, response) => {
    forward(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
