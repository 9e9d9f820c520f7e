// Starts, calls and kills the services of a run. Each service is a `mercat serve` process with its own database and endpoint. All services
// follow the same local chain. The run uses the public interface over HTTP, and the operator's operations and the intake over the local
// socket.

import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { World } from '../../devnet/world.ts';
import type { ServiceProcess } from '../../test/support/service/service-process.ts';
import { sendToSocket, startServiceProcess } from '../../test/support/service/service-process.ts';
import type { ServedApi } from '../served.ts';
import { createServedApi } from '../served.ts';

export type FollowerSettings = Record<string, string> & { DATA_DIR: string };

export type FollowerOptions = { name: string; settings: FollowerSettings };

/** `digest`: a hash of all rows that a service serves for a chain at a block. `hash`: the hash of the block. */
export type Digest = { block: number; hash: string; digest: string };

const CHAIN_POLL_MS = '50';
const PATIENCE_MS = 120_000;
const POLL_MS = 15;
const SERVER_ERROR = 500;
const CREATED = 201;
const OK = 200;
/**
 * Error codes that the service no longer returns after it has read the newest blocks. An order that is rejected with such a code is sent
 * again.
 */
const TEMPORARY_CODES = new Set([
  'collection_not_followed',
  'not_the_owner',
  'not_approved',
  'no_funds',
  'token_burned',
  'wrong_counter',
  'chain_unavailable',
]);

export class Follower {
  readonly name: string;
  readonly #settings: FollowerSettings;
  readonly #chain: string;
  #process: ServiceProcess;
  #requests = 0;
  kills = 0;

  private constructor({ name, settings }: FollowerOptions, chain: string, started: ServiceProcess) {
    this.name = name;
    this.#settings = settings;
    this.#chain = chain;
    this.#process = started;
  }

  /** Starts a service that follows all collections of the world from the first block. Resolves when the backfills are complete. */
  static async start(options: FollowerOptions, world: World): Promise<Follower> {
    const settings = { CHAIN_POLL_MS, TRUST_PROXY: 'true', ...options.settings };
    const follower = new Follower({ ...options, settings }, world.chain.id, await startServiceProcess(settings));
    for (const { address, name } of world.collections) {
      const input = { chain: world.chain.id, address, name, fromBlock: 0 };
      // The addition fails while the endpoints of the service disagree about the contract.
      await follower.#retry(() => follower.operate('collections.add', input));
    }
    await until(`${follower.name} follows all collections`, async () => {
      const rows = (await follower.operate('collections.list', {})) as { state: string }[];
      return rows.every(({ state }) => state === 'live');
    });
    return follower;
  }

  /** The public interface. Each request has a different client address, so that no rate limit applies. */
  api(): ServedApi {
    return createServedApi(this.#process.url, () => {
      this.#requests += 1;
      const address = [this.#requests >> 16, this.#requests >> 8, this.#requests].map((part) => part & 255);
      return { 'x-forwarded-for': `10.${address.join('.')}` };
    });
  }

  /** Calls an operation of the service. Repeats a failed call, because the service may be starting. */
  async operate(operation: string, input: object): Promise<unknown> {
    const { status, body } = await this.#send('POST', `/operator/v1/${operation}`, input);
    if (status !== OK) throw new Error(`${this.name}: ${operation}: ${JSON.stringify(body)}`);
    return (body as { result: unknown }).result;
  }

  /** Submits an order to the own order book, with the further fields `more`. Returns null if it was accepted, otherwise the reason. */
  async postOrder(order: object, more: object = {}): Promise<string | null> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const { status, body } = await this.#send('POST', '/intake/v1/orders', { chain: this.#chain, order, ...more });
      if (status === CREATED) return null;
      const { error } = body as { error: { code: string; message: string } };
      // An earlier attempt stored the order, but its response was lost when the process was killed.
      if (error.code === 'duplicate') return null;
      if (!TEMPORARY_CODES.has(error.code) || performance.now() > deadline) return `${error.code}: ${error.message}`;
      await delay(POLL_MS);
    }
  }

  /** Imports records. Throws if a record is rejected. */
  async postRecords(records: readonly object[]): Promise<void> {
    const body = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    await this.#retry(async () => {
      const lines = await sendRecords(this.#process.socketPath, body);
      const events = lines.map((line) => JSON.parse(line) as { event: string });
      const done = events.find(({ event }) => event === 'done') as { refused?: number } | undefined;
      if (!done) throw new Error(`the import did not end: ${lines.join(' ')}`);
      if (events.some(({ event }) => event === 'refused')) throw new Rejected(lines.join(' '));
    });
  }

  async digest(): Promise<Digest> {
    const [digest] = (await this.operate('audit.digest', { chain: this.#chain })) as Digest[];
    if (!digest) throw new Error(`${this.name} has no digest`);
    return digest;
  }

  /** Waits until the service has read the chain up to a block. */
  async reach(block: number): Promise<void> {
    await until(`${this.name} has read block ${block}`, async () => {
      const { chains } = (await this.operate('status', {})) as {
        chains: { chain: string; block: number | null }[] | null;
      };
      // `chains` is null if the section could not be read in time.
      return (chains?.find(({ chain }) => chain === this.#chain)?.block ?? -1) >= block;
    });
  }

  /** Kills the process with SIGKILL, and starts it again on the same data. */
  async kill(): Promise<void> {
    this.kills += 1;
    await this.#process.kill();
    this.#process = await startServiceProcess(this.#settings);
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }

  #send(method: string, target: string, body: object) {
    return this.#retry(async () => {
      const response = await sendToSocket(this.#process.socketPath, method, target, body);
      if (response.status >= SERVER_ERROR) throw new Error(`${target}: ${JSON.stringify(response.body)}`);
      return response;
    });
  }

  async #retry<T>(attempt: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (error instanceof Rejected || performance.now() > deadline) throw error;
      }
      await delay(POLL_MS);
    }
  }
}

class Rejected extends Error {}

function sendRecords(socketPath: string, body: string): Promise<string[]> {
  const headers = { 'content-type': 'application/x-ndjson' };
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path: '/intake/v1/records', method: 'POST', headers }, (response) => {
      text(response).then((received) => resolve(received.split('\n').filter((line) => line !== '')), reject);
    });
    call.on('error', reject).end(body);
  });
}

/** Polls until `isTrue` returns true. Throws an error with the text `condition` after `PATIENCE_MS`. */
async function until(condition: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`not reached in time: ${condition}`);
    await delay(POLL_MS);
  }
}
