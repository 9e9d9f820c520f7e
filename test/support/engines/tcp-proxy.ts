// A TCP proxy on loopback that breaks as networks do: it can be slow, silent, cut, or not there at all. It does not
// look into the bytes that it carries.

import net from 'node:net';

export type TcpProxy = {
  /** The given URL, by way of the proxy. */
  url: string;
  /** Everything takes so much longer in each direction, from now on and in order. */
  delay(ms: number): void;
  /**
   * Open connections transfer nothing any more, as when the machine behind them is gone; new ones are accepted and transfer
   * nothing.
   */
  hang(): void;
  /** Open connections are reset; new ones are taken as before. */
  cut(): void;
  /** Open connections are reset, new ones are refused. */
  refuse(): Promise<void>;
  /** New connections pass, at full speed. Those that have gone silent stay silent. */
  heal(): Promise<void>;
  /** Connections that are open on the side of the client. */
  connections(): number;
  close(): Promise<void>;
};

type Pair = { client: net.Socket; upstream: net.Socket | null; silent: boolean };

/** A proxy in front of the host and port of `target`, a URL. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<Pair>();
  let delayMs = 0;
  let silent = false;

  const carry = (pair: Pair, from: net.Socket, to: net.Socket) => {
    let free = 0;
    from.on('data', (chunk) => {
      if (pair.silent || !to.writable) return;
      const now = performance.now();
      free = Math.max(free, now + delayMs);
      if (free <= now) to.write(chunk);
      else setTimeout(() => !pair.silent && to.writable && to.write(chunk), free - now);
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
  let own = 0;
  const listen = () =>
    new Promise<void>((resolve) =>
      server.listen(own, '127.0.0.1', () => {
        own = (server.address() as net.AddressInfo).port;
        resolve();
      }),
    );
  const unlisten = () => (server.listening ? new Promise<void>((resolve) => server.close(() => resolve())) : null);
  const cut = () => {
    for (const { client, upstream } of pairs) {
      // Node never closes a socket that is reset while it is being ended, and then never exits.
      if (client.writableEnded) client.destroy();
      else client.resetAndDestroy();
      upstream?.destroy();
    }
  };
  await listen();
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(own);
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
    connections: () => pairs.size,
    close: async () => {
      const closed = unlisten();
      cut();
      await closed;
    },
  };
}
