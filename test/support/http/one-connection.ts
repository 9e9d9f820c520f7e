// An HTTP client with one connection. Like a proxy, it sends a client address in `X-Forwarded-For`. The test chooses this address.

import http from 'node:http';
import type { TestContext } from 'node:test';

const LIMIT_MS = 120_000;

export type Received = { status: number; headers: http.IncomingHttpHeaders };

/** Sends its requests one after the other. The connection is closed after the test. */
export class OneConnection {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  readonly #address: string;

  constructor(t: TestContext, url: string, address: string) {
    this.#url = url;
    this.#address = address;
    t.after(() => this.#agent.destroy());
  }

  get(path: string, more: Record<string, string> = {}): Promise<Received> {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const options = { agent: this.#agent, signal, headers: { 'x-forwarded-for': this.#address, ...more } };
    return new Promise((resolve, reject) => {
      http
        .get(this.#url + path, options, (response) => {
          response.on('error', reject);
          response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
        })
        .on('error', reject);
    });
  }
}
