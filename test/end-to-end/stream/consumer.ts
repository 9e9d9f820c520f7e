// Follows the stream with the typed client. The connection is cut at random times, and each new connection goes to another node.

import { setTimeout as delay } from 'node:timers/promises';
import { createMarketClient } from '../../../client/src/market.ts';
import type { SeededRandom } from '../../../devnet/random.ts';
import { startTcpProxy } from '../../support/engines/tcp-proxy.ts';
import type { CopiedCollection } from './market-copy.ts';
import { MarketCopy, readSnapshot } from './market-copy.ts';

/** The longest time for which a connection is left open. */
const OPEN_MS_MAX = 400;
/** How long to wait until a connection is opened or lost. After this time the next node is used, because the current node may have been killed. */
const CHANGE_MS_MAX = 4_000;
const POLL_MS = 5;

export type Consumer = {
  copy: MarketCopy;
  /** The offset at which `copy` was first read. The stream begins after this offset. */
  offset: string;
  /** How many open connections the consumer has lost. */
  disconnections(): number;
  /** Ends the connection. If the stream has already failed, throws its error. */
  stop(): Promise<void>;
};

export type ConsumerOptions = {
  nodes: readonly string[];
  collections: readonly CopiedCollection[];
  random: SeededRandom;
  /** The client address of the consumer. Each consumer has its own address, so that consumers do not share rate limits. */
  address: string;
};

export async function startConsumer({ nodes, collections, random, address }: ConsumerOptions): Promise<Consumer> {
  const proxy = await startTcpProxy(nodes[0] ?? '');
  const end = new AbortController();
  const ended = new Error('the consumer was stopped');
  const connection = { isOpen: false, lost: 0 };
  const client = createMarketClient({ baseUrl: proxy.url, headers: { 'x-forwarded-for': address } });
  const { snapshot, offset, changes } = await client.snapshotThenFollow((reads) => readSnapshot(reads, collections), {
    signal: end.signal,
    onConnection: (state) => {
      if (connection.isOpen && state === 'lost') connection.lost += 1;
      connection.isOpen = state === 'open';
    },
  });
  const copy = new MarketCopy(snapshot, collections);
  const follow = async () => {
    for await (const event of changes) copy.apply(event);
  };
  const waitFor = async (condition: () => boolean) => {
    const deadline = performance.now() + CHANGE_MS_MAX;
    while (!condition() && !end.signal.aborted && performance.now() < deadline) await delay(POLL_MS);
  };
  const disconnect = async () => {
    for (let next = 1; !end.signal.aborted; next += 1) {
      await waitFor(() => connection.isOpen);
      await delay(random.below(OPEN_MS_MAX));
      proxy.retarget(nodes[next % nodes.length] ?? '');
      proxy.cut();
      await waitFor(() => !connection.isOpen);
    }
  };
  const work = Promise.all([follow(), disconnect()]);
  // `stop` throws the error.
  work.catch(() => end.abort());
  return {
    copy,
    offset,
    disconnections: () => connection.lost,
    stop: async () => {
      end.abort(ended);
      try {
        await work;
      } catch (error) {
        if (error !== ended) throw error;
      } finally {
        await proxy.close();
      }
    },
  };
}
