// Measures the time from the mining of a fill until the public interface no longer lists the order. The chain is local, with the real
// Seaport contract. The poll period is the default, and all caches are used.

import { setTimeout as delay } from 'node:timers/promises';
import { toWireComponents } from '../../devnet/orders.ts';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import { startLocalWorld } from '../../test/support/chain/followed-collection.ts';
import { sendToSocket } from '../../test/support/service/service-process.ts';
import { startTestService } from '../../test/support/service/service.ts';
import { median } from '../support/measure.ts';
import { judge } from '../support/verdict.ts';

const FILLS = 25;
const WAIT_MS_MAX = 30_000;
const POLL_MS = 10;

export async function benchFillLatency(): Promise<void> {
  const world = await startLocalWorld();
  const { chain, nft, people } = world;
  const DATA_DIR = await directoryWithDatabase();
  const service = await startTestService({
    settings: { DATA_DIR, RPC_URL_ETHEREUM: chain.url, LOG_LEVEL: 'silent' },
    logLevel: 'silent',
  });
  const socketPath = `${DATA_DIR}/mercat.sock`;
  const collection = `${chain.id}_${nft.address}`;
  const readListed = async () => {
    const { data } = await service.ok(`/v1/collections/${collection}/listings?limit=100`);
    return new Set((data as { orderId: string }[]).map(({ orderId }) => orderId));
  };
  try {
    const tokens = Array.from({ length: FILLS }, (_, index) => BigInt(index + 1));
    await world.mint(people[0], ...tokens);
    await world.approve(people[0]);
    await service.operate('collections.add', { chain: chain.id, address: nft.address, fromBlock: 0 });
    const latencies: number[] = [];
    for (const tokenId of tokens) {
      const order = await world.sign(0, { tokenId, price: 1_000n + tokenId });
      const orderId = await post(socketPath, chain.id, order);
      await until(async () => (await readListed()).has(orderId));
      // The delay differs for each fill, so that the fills are mined at different moments of the poll period.
      await delay(Number(tokenId) * 37);
      await world.act(world.fillCall(order, people[1]));
      const minedAt = performance.now();
      await until(async () => !(await readListed()).has(orderId));
      latencies.push(performance.now() - minedAt);
    }
    judge({
      name: 'from a mined fill until /v1 no longer lists the order',
      figure: median(latencies),
      unit: 'ms',
      rounds: latencies,
      aim: null,
    });
  } finally {
    await service.close();
    await chain.stop();
  }
}

type Signed = Awaited<ReturnType<Awaited<ReturnType<typeof startLocalWorld>>['sign']>>;

/** Submits an order until the service accepts it. The service must first have read the token. Returns the id of the order. */
async function post(socketPath: string, chain: string, { components, signature }: Signed): Promise<string> {
  const order = { parameters: toWireComponents(components), signature };
  let orderId = '';
  await until(async () => {
    const { status, body } = await sendToSocket(socketPath, 'POST', '/intake/v1/orders', { chain, order });
    if (status === 201) orderId = body.data.orderId;
    return status === 201;
  });
  return orderId;
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error('the condition did not become true in time');
    await delay(POLL_MS);
  }
}
