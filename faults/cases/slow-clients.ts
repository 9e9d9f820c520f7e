// Clients that send headers or a body byte by byte, and clients that do not read a long response. They occupy connections, but do not
// affect other clients.

import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMiB } from '../memory.ts';
import type { Fault } from '../fault.ts';
import { times } from '../load.ts';
import { assertNoneFailed, PATIENT } from '../none-failed.ts';

const CLIENTS_OF_A_KIND = 200;
const BYTE_PERIOD_MS = 1_000;
/**
 * The service must end the connections of all slow clients within this time. The time is longer than each limit that ends a connection:
 * 8 s for the headers, 15 s for the complete request, and 30 s without a byte on the connection.
 */
const ENDED_LIMIT_MS = 90_000;
const REQUESTS = 200;

const OPENINGS = [
  'GET /v1/collections HTTP/1.1\r\nHost: a\r\nX-Slow: ',
  'POST /api/v1/products HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"name": "',
  'GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50),
];

export const fault: Fault = {
  name: 'slow-clients',
  promise: 'no request of another client fails, and each slow client is disconnected',
  engines: ['embedded', 'postgresql'],
  run: async ({ start, onEnd }) => {
    const platform = await start({ settings: PATIENT });
    const sockets: net.Socket[] = [];
    onEnd(() => sockets.forEach((socket) => socket.destroy()));
    const before = residentMiB(platform.service);
    let endedAfterMs = 0;
    await platform.whileBroken(async () => {
      const openedAt = performance.now();
      for (const opening of OPENINGS) sockets.push(...times(CLIENTS_OF_A_KIND, () => open(platform.url, opening)));
      await platform.load.progress(REQUESTS);
      while (sockets.some(({ destroyed }) => !destroyed) && performance.now() - openedAt < ENDED_LIMIT_MS) {
        for (const socket of sockets) if (socket.writable) socket.write('x');
        await sleep(BYTE_PERIOD_MS);
      }
      endedAfterMs = performance.now() - openedAt;
    });
    assertNoneFailed(platform.during);
    const open_ = sockets.filter(({ destroyed }) => !destroyed).length;
    if (open_ > 0) throw new Error(`${open_} slow clients are still connected after ${ENDED_LIMIT_MS / 1_000} s`);
    const growth = residentMiB(platform.service) - before;
    return [
      `${sockets.length} slow clients were disconnected within ${(endedAfterMs / 1_000).toFixed(0)} s; the memory of the service grew by ${growth.toFixed(0)} MiB`,
    ];
  },
};

/** Opens a connection that sends its first bytes, and never reads. */
function open(url: string, opening: string): net.Socket {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname).on('error', () => undefined);
  socket.pause();
  socket.write(opening);
  return socket;
}
