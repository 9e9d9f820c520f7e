// A JSON-RPC endpoint on loopback that forwards requests to another endpoint, and changes the responses to some contract calls and to
// requests for the logs of all contracts.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type CallResponse = { result?: unknown; error?: { code: number; message: string } };
type Call = { id: number; params: [{ data?: string; topics?: unknown; address?: unknown }?, ...unknown[]] };

/** The key in `changes` for log requests without a contract address. */
export const LOGS_OF_ALL = 'logs of all contracts';

/** `changes`: functions that change a response. The key of a function is the call data without `0x`, or LOGS_OF_ALL. Returns the URL. */
export async function startAlteredCalls(
  t: TestContext,
  targetUrl: string,
  changes: ReadonlyMap<string, (response: CallResponse) => CallResponse>,
): Promise<string> {
  const respond = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
    const headers = { 'content-type': 'application/json' };
    const forwarded = await fetch(targetUrl, { method: 'POST', headers, body });
    const calls = JSON.parse(body) as Call | Call[];
    const responses = [await forwarded.json()].flat() as (CallResponse & { id: number })[];
    const altered = [calls].flat().map(({ id, params }) => {
      const found = responses.find((one) => one.id === id) ?? { id };
      const { data, topics, address } = params[0] ?? {};
      const change = changes.get(topics && !address ? LOGS_OF_ALL : (data?.slice(2) ?? ''));
      return change ? { jsonrpc: '2.0', id, ...change(found) } : found;
    });
    response.writeHead(200, headers).end(JSON.stringify(Array.isArray(calls) ? altered : altered[0]));
  };
  const server = http.createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
