// Sends requests that are not part of the load of the fault cases: unique requests, failing requests, requests for large responses, and
// requests whose client disconnects.

import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../client.ts';
import { SUBJECT } from '../records.ts';

const PAUSE_MS = 50;
/** A visitor that disconnects on purpose does so within this time after its request. */
const PATIENCE_MS = 20;

export class Visitors {
  readonly #url: string;
  readonly #client: Client;
  #isStopping = false;
  #tasks: Promise<void>[] = [];
  requests = 0;

  constructor(url: string, client: Client) {
    this.#url = url;
    this.#client = client;
  }

  start(): void {
    const visits: (() => Promise<unknown>)[] = [
      () => this.#client.send({ method: 'GET', path: `/v1/collections/no-${randomUUID()}` }),
      () =>
        this.#client.send({ method: 'GET', path: `/v1/tokens/ethereum/${SUBJECT.address}/${randomInt(1_000_000)}` }),
      () => this.#client.send({ method: 'GET', path: '/api/v1/openapi.json' }),
      () => this.#client.send({ method: 'GET', path: `/api/v1/products/${randomUUID()}` }),
      () => this.#open(`/v1/collections?limit=100&cursor=${randomUUID()}`),
      () => this.#open('/api/v1/products', { authorization: `Bearer ${randomUUID()}` }),
      () => this.#open(`/v1/collections?limit=${randomInt(1, 100)}`, {}, AbortSignal.timeout(randomInt(PATIENCE_MS))),
    ];
    this.#tasks = visits.map((visit) => this.#repeat(visit));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#tasks);
  }

  async #repeat(visit: () => Promise<unknown>): Promise<void> {
    while (!this.#isStopping) {
      await visit();
      this.requests += 1;
      await sleep(PAUSE_MS);
    }
  }

  /** Sends a request on a new connection. Failures are ignored, because some visitors disconnect on purpose. */
  async #open(path: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<void> {
    const init = { headers: { connection: 'close', ...headers }, ...(signal && { signal }) };
    await fetch(`${this.#url}${path}`, init)
      .then((response) => response.text())
      .catch(() => undefined);
  }
}
