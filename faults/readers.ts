// Sends many simple reads over kept-alive connections, for faults that need more requests than the load's writers send.

import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Tally } from './client.ts';
import { MARKET_PATHS, times } from './load.ts';

const READERS = 8;
const POLL_MS = 50;

export class Readers {
  readonly #url: string;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: READERS });
  #isStopping = false;
  #tasks: Promise<void>[] = [];
  readonly tally = new Tally();

  constructor(url: string) {
    this.#url = url;
  }

  start(): void {
    this.#tasks = times(READERS, () => this.#read());
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#tasks);
    this.#agent.destroy();
  }

  /** Resolves when `count` more requests have a response. */
  async progress(count: number, limitMs: number): Promise<void> {
    const aim = this.tally.total + count;
    const deadline = performance.now() + limitMs;
    while (this.tally.total < aim) {
      if (performance.now() > deadline) throw new Error(`${aim - this.tally.total} requests have no response`);
      await sleep(POLL_MS);
    }
  }

  async #read(): Promise<void> {
    for (let index = 0; !this.#isStopping; index += 1) {
      const path = MARKET_PATHS[index % MARKET_PATHS.length] ?? '';
      const startedAt = performance.now();
      const answer = await this.#get(path, index);
      this.tally.note({ method: 'GET', path }, answer, performance.now() - startedAt);
    }
  }

  #get(path: string, index: number): Promise<{ status: number | 'no response'; headers: Headers; text: string }> {
    return new Promise((resolve) => {
      const fail = ({ message }: Error) => resolve({ status: 'no response', headers: new Headers(), text: message });
      // Each request has a different client address, so that no rate limit of a client applies.
      const headers = { 'x-forwarded-for': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}` };
      http
        .get(`${this.#url}${path}`, { agent: this.#agent, headers }, (response) => {
          response.on('error', fail).resume();
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: new Headers(), text: '' }));
        })
        .on('error', fail);
    });
  }
}
