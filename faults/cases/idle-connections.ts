// 10,000 clients send one request each, and keep their connections open.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import type { Fault } from '../fault.ts';
import { times } from '../load.ts';
import { residentMiB } from '../memory.ts';
import { assertNoneFailed, PATIENT } from '../none-failed.ts';

const CONNECTIONS = 10_000;
/** How many connections are opened at a time. The service's queue of connections that it has not accepted yet has 511 places. */
const BATCH = 400;
const REQUESTS = 200;
const GROWTH_MAX_MIB = 300;

export const fault: Fault = {
  name: 'idle-connections',
  promise: `no request fails while ${CONNECTIONS} connections are open, and the service grows by less than ${GROWTH_MAX_MIB} MiB`,
  engines: ['embedded', 'postgresql'],
  run: async ({ start, onEnd }) => {
    const platform = await start({ settings: PATIENT });
    const sockets: net.Socket[] = [];
    onEnd(() => sockets.forEach((socket) => socket.destroy()));
    const before = residentMiB(platform.service);
    let growth = 0;
    await platform.whileBroken(async () => {
      while (sockets.length < CONNECTIONS) sockets.push(...(await Promise.all(times(BATCH, () => open(platform.url)))));
      await platform.load.progress(REQUESTS);
      growth = residentMiB(platform.service) - before;
    });
    assertNoneFailed(platform.during);
    assert.ok(growth < GROWTH_MAX_MIB, `the service has grown by ${growth.toFixed(0)} MiB`);
    const opened = sockets.filter(({ destroyed }) => !destroyed).length;
    return [`${opened} connections were open; ${growth.toFixed(0)} MiB more`];
  },
};

/** Opens a connection, and resolves when its first request has a response. */
async function open(url: string): Promise<net.Socket> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  return socket.on('error', () => undefined);
}
