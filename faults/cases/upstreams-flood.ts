// Every upstream responds with a body that does not end. Afterwards the upstreams refuse connections.

import assert from 'node:assert/strict';
import { startFlood } from '../flood.ts';
import type { Fault } from '../fault.ts';
import { residentMiB } from '../memory.ts';
import { PATIENT, assertNoneFailed } from '../none-failed.ts';

/** The number of requests that the load sends while the upstreams flood. */
const REQUESTS = 600;
const SAMPLE_PERIOD_MS = 200;
/** Several upstreams are read at the same time, and a page of each may have 32 MiB. A page is in memory twice: as text and as objects. */
const GROWTH_MAX_MIB = 400;
const UPSTREAMS = ['FEED_URL', 'OPENSEA_URL', 'MAGICEDEN_EVM_URL', 'RPC_URL_POLYGON'];
const FOLLOWED = {
  chain: 'ethereum',
  address: '0x00000000000000000000000000000000000f1000',
  name: 'Followed',
  opensea: 'followed',
};

export const fault: Fault = {
  name: 'upstreams-flood',
  promise: `no request fails, and no process grows by more than ${GROWTH_MAX_MIB} MiB`,
  engines: ['embedded', 'postgresql'],
  upstreamsStayAway: true,
  run: async ({ start, onEnd }) => {
    const flood = await startFlood();
    onEnd(flood.close);
    const urls = Object.fromEntries(UPSTREAMS.map((name) => [name, flood.urlOf(name)]));
    const platform = await start({ settings: { ...PATIENT, ...urls, OPENSEA_API_KEY: 'key' } });
    const sizes = () => platform.programs.map(residentMiB);
    const before = sizes();
    let growth = 0;
    await platform.whileBroken(async () => {
      await platform.operate('collections.add', FOLLOWED);
      const measure = () => (growth = Math.max(growth, ...sizes().map((size, index) => size - (before[index] ?? 0))));
      const timer = setInterval(measure, SAMPLE_PERIOD_MS);
      await platform.load.progress(REQUESTS).finally(() => clearInterval(timer));
      flood.close();
    });
    assert.ok(flood.requests.size > 0, 'no upstream was called');
    assertNoneFailed(platform.during);
    assert.ok(growth <= GROWTH_MAX_MIB, `a process has grown by ${growth.toFixed(0)} MiB`);
    const calls = [...flood.requests].map(([name, count]) => `${count} of ${name}`).join(', ');
    return [`requests to upstreams: ${calls}; the largest growth was ${growth.toFixed(0)} MiB`];
  },
};
