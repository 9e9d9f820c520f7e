// A server that sends the responses of a script, one for each request. It stands for a service that fails, or for a proxy that fails.

import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type ReceivedRequest = { method: string; url: string; headers: IncomingHttpHeaders; body: string; atMs: number };

/** Sends one response. */
export type Step = (response: ServerResponse) => void;

export type ScriptedServer = { url: string; requests: ReceivedRequest[] };

/** After the last step, each further request gets the response of the last step. The server is closed when the test ends. */
export async function startScriptedServer(context: TestContext, ...steps: Step[]): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then(
      (body) => {
        const { method = '', url = '', headers } = request;
        const step = steps[Math.min(requests.length, steps.length - 1)];
        requests.push({ method, url, headers, body, atMs: performance.now() });
        step?.(response);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

export const sends =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Step =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

export const fails = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Step =>
  sends(status, { error: { code, message: `The message of ${code}` } }, headers);

/** Closes the connection without a response. */
export const disconnects: Step = (response) => void response.socket?.destroy();

/** Sends nothing, and keeps the connection open. */
export const hangs: Step = () => undefined;

/** Sends the text as an event stream. `cut`: closes the connection afterwards. */
export const streams =
  (text: string, { cut = false }: { cut?: boolean } = {}): Step =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => {
      if (cut) response.socket?.destroy();
    });
  };

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: string[] = [];
  for await (const part of request) parts.push(String(part));
  return parts.join('');
}
