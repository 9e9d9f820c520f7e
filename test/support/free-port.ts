// Finds a TCP port on loopback on which nothing listens at the moment, and which the system gives to nobody unasked.
// Systems give the ports from 32768 to outgoing connections and to servers that ask for any port, so such a port can
// be taken between the moment at which it is found and the moment at which its user listens on it.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

const LOWEST = 10_000;
const LOWEST_GIVEN_BY_SYSTEM = 32_768;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, LOWEST_GIVEN_BY_SYSTEM);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = net.createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
