// 10,000 clients keep their connections open, and send a request from time to time.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import type { Fault } from '../fault.ts';
import { times } from '../load.ts';
import { residentMiB } from '../memory.ts';
import { assertNoneFailed, PATIENT } from '../none-failed.ts';

const CONNECTIONS = 10_000;
/** How many connections are opened at a time: fewer than the 511 that can wait until the service accepts them. */
const BATCH = 400;
/** Each connection sends a request every 20 seconds, because the service closes a connection after 65 s without a request. */
const REQUEST_PERIOD_S = 20;
/** The time limit for opening all connections. It is long enough for a slow machine. */
const OPEN_LIMIT_MS = 600_000;
const REQUESTS = 200;
/** The number of requests before the memory is first measured, so that the caches of the service are full by then. */
const REQUESTS_BEFORE = 3_000;
const GROWTH_MAX_MIB = 300;

export const fault: Fault = {
  name: 'idle-connections',
  promise: `no request fails while ${CONNECTIONS} connections are open, and the service grows by less than ${GROWTH_MAX_MIB} MiB`,
  engines: ['embedded', 'postgresql'],
  run: async ({ start, onEnd }) => {
    const platform = await start({ settings: PATIENT });
    const connections = new Connections(platform.url);
    onEnd(() => connections.close());
    await platform.load.progress(REQUESTS_BEFORE);
    const before = residentMiB(platform.service);
    let growth = 0;
    await platform.whileBroken(async () => {
      const deadline = performance.now() + OPEN_LIMIT_MS;
      while (connections.open() < CONNECTIONS && performance.now() < deadline) await connections.add();
      await platform.load.progress(REQUESTS);
      growth = residentMiB(platform.service) - before;
    });
    assertNoneFailed(platform.during);
    assert.ok(growth < GROWTH_MAX_MIB, `the service has grown by ${growth.toFixed(0)} MiB`);
    const open = connections.open();
    assert.ok(open >= CONNECTIONS, `only ${open} connections were open`);
    return [`${open} connections were open; the memory of the service grew by ${growth.toFixed(0)} MiB`];
  },
};

const REQUEST = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';

class Connections {
  readonly #url: URL;
  readonly #sockets: net.Socket[] = [];
  readonly #timer: NodeJS.Timeout;
  #seconds = 0;

  constructor(url: string) {
    this.#url = new URL(url);
    this.#timer = setInterval(() => this.#request(), 1_000);
  }

  open(): number {
    return this.#sockets.filter(({ destroyed }) => !destroyed).length;
  }

  /** Opens BATCH connections. Resolves when the first request of each has a response. */
  async add(): Promise<void> {
    this.#sockets.push(...(await Promise.all(times(BATCH, () => open(this.#url)))));
  }

  /**
   * Called every second. The connections are divided into REQUEST_PERIOD_S parts, and each call sends a request on every connection of the
   * next part.
   */
  #request(): void {
    this.#seconds += 1;
    for (const [index, socket] of this.#sockets.entries())
      if ((index + this.#seconds) % REQUEST_PERIOD_S === 0) socket.write(REQUEST);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
  }
}

async function open({ hostname, port }: URL): Promise<net.Socket> {
  const socket = net.connect(Number(port), hostname);
  socket.write(REQUEST);
  await once(socket, 'data');
  return socket.on('error', () => undefined).resume();
}
