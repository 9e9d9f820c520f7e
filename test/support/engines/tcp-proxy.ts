// A TCP proxy on loopback that fails as networks do. It can be slow, hang, reset connections, or refuse them. It forwards bytes
// without interpreting them.

import net from 'node:net';

export type TcpProxy = {
  /** The target URL with the proxy's host and port. */
  url: string;
  /** From now on, bytes arrive `ms` later in each direction. They keep their order. */
  delay(ms: number): void;
  /**
   * Open and new connections forward no more bytes, as if the target machine had disappeared. New connections are still accepted.
   */
  hang(): void;
  /** Open connections are reset. New connections are accepted. */
  cut(): void;
  /** Open connections are reset. New connections are refused. */
  refuse(): Promise<void>;
  /** Ends all faults for new connections. Connections that hang continue to hang. */
  heal(): Promise<void>;
  /** New connections go to the host and port of `target`. Open connections stay where they are. */
  retarget(target: string): void;
  connections(): number;
  close(): Promise<void>;
};

type Pair = { client: net.Socket; upstream: net.Socket | null; silent: boolean };

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  let { hostname, port } = new URL(target);
  const pairs = new Set<Pair>();
  let delayMs = 0;
  let silent = false;

  const carry = (pair: Pair, from: net.Socket, to: net.Socket) => {
    /** The time at which the latest chunk was sent or will be sent. */
    let sendAt = 0;
    from.on('data', (chunk) => {
      if (pair.silent || !to.writable) return;
      const now = performance.now();
      sendAt = Math.max(sendAt, now + delayMs);
      if (sendAt <= now) to.write(chunk);
      else setTimeout(() => !pair.silent && to.writable && to.write(chunk), sendAt - now);
    });
    from.on('end', () => !pair.silent && to.end());
    from.on('error', () => from.destroy());
    from.on('close', () => !pair.silent && to.destroy());
  };
  const server = net.createServer((client) => {
    const pair: Pair = { client, upstream: null, silent };
    pairs.add(pair);
    client.on('close', () => {
      pairs.delete(pair);
      pair.upstream?.destroy();
    });
    if (silent) {
      client.on('error', () => client.destroy()).resume();
      return;
    }
    const upstream = net.connect(Number(port), hostname);
    pair.upstream = upstream;
    carry(pair, client, upstream);
    carry(pair, upstream, client);
  });
  let ownPort = 0;
  const listen = () =>
    new Promise<void>((resolve) =>
      server.listen(ownPort, '127.0.0.1', () => {
        ownPort = (server.address() as net.AddressInfo).port;
        resolve();
      }),
    );
  const unlisten = () => (server.listening ? new Promise<void>((resolve) => server.close(() => resolve())) : null);
  const cut = () => {
    for (const { client, upstream } of pairs) {
      // Node never closes a socket that is reset after `end()`. Such a socket would keep the process running.
      if (client.writableEnded) client.destroy();
      else client.resetAndDestroy();
      upstream?.destroy();
    }
  };
  await listen();
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(ownPort);
  return {
    url: url.href,
    delay: (ms) => (delayMs = ms),
    hang: () => {
      silent = true;
      for (const pair of pairs) pair.silent = true;
    },
    cut,
    refuse: async () => {
      const closed = unlisten();
      cut();
      await closed;
    },
    heal: async () => {
      silent = false;
      delayMs = 0;
      if (!server.listening) await listen();
    },
    retarget: (next) => ({ hostname, port } = new URL(next)),
    connections: () => pairs.size,
    close: async () => {
      const closed = unlisten();
      cut();
      await closed;
    },
  };
}
