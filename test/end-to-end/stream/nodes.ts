// Starts, kills and stops processes of the service on one PostgreSQL database. The processes keep their URLs when they are killed and
// started again.

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../support/free-port.ts';
import type { ServiceProcess } from '../../support/service/service-process.ts';
import { sendToSocket, startServiceProcess } from '../../support/service/service-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const SERVED_MS_MAX = 120_000;
const POLL_MS = 100;

export type SocketResponse = { status: number; body: any };

export class Nodes {
  readonly urls: readonly string[];
  readonly #processes: ServiceProcess[];
  #starting: Promise<unknown> = Promise.resolve();
  readonly #restart: (index: number) => Promise<ServiceProcess>;

  private constructor(processes: ServiceProcess[], restart: (index: number) => Promise<ServiceProcess>) {
    this.#processes = processes;
    this.#restart = restart;
    this.urls = processes.map(({ url }) => url);
  }

  static async start(count: number, settings: Record<string, string>): Promise<Nodes> {
    const places: { DATA_DIR: string; PORT: string }[] = [];
    for (let index = 0; index < count; index += 1)
      places.push({ DATA_DIR: temporaryDirectory(), PORT: String(await freePort()) });
    const start = (index: number) => startServiceProcess({ ...settings, ...(places[index] ?? assert.fail()) });
    const processes: ServiceProcess[] = [];
    for (const index of places.keys()) processes.push(await start(index));
    return new Nodes(processes, start);
  }

  /** Kills a process with SIGKILL and starts it again. */
  async kill(index: number): Promise<void> {
    await this.#processes[index]?.kill();
    const starting = this.#restart(index);
    this.#starting = starting;
    this.#processes[index] = await starting;
  }

  /** Kills all processes, does the work, and starts the processes again. */
  async without(work: () => Promise<void>): Promise<void> {
    await this.stop();
    await work();
    for (const index of this.#processes.keys()) this.#processes[index] = await this.#restart(index);
  }

  /** Sends a request to the socket of the first process that responds without a server error. */
  async send(method: string, target: string, body?: object): Promise<SocketResponse> {
    const deadline = performance.now() + SERVED_MS_MAX;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { socketPath = '' } = this.#processes[attempt % this.#processes.length] ?? {};
        const response = await sendToSocket(socketPath, method, target, body);
        if (response.status < 500 || performance.now() > deadline) return response;
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
      await delay(POLL_MS);
    }
  }

  async operate(operation: string, input: object = {}): Promise<any> {
    const { status, body } = await this.send('POST', `/operator/v1/${operation}`, input);
    assert.equal(status, 200, `${operation}: ${JSON.stringify(body)}`);
    return body.result;
  }

  async stop(): Promise<void> {
    await this.#starting.catch(() => undefined);
    await Promise.all(this.#processes.map((process) => process.kill()));
  }
}
