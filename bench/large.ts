// Measures uncached reads on the large set: each sort order of the collection list, and the same reads of the largest and of small
// collections. `BENCH_SCALE` (default 1) scales the set.

import pg from 'pg';
import { createDatabase } from '../src/database/port.ts';
import { SHORT_POLICY } from '../src/http/cached-response.ts';
import { TOKEN_SORTS } from '../src/explore/tokens.ts';
import { SORTS } from '../src/market/ranking.ts';
import { canStartPostgres, createTestDatabase, startOwnPostgres } from '../test/support/engines/postgres-server.ts';
import { startServer } from './hot-listings.ts';
import { createLargeSet } from './large-set.ts';
import { median } from './measure.ts';
import { judge, recordUnmeasured } from './verdict.ts';

const ROUNDS = 25;
/** The aim for the median of a read, in milliseconds. */
const AIM_MS = 25;
/** The small collections begin at this share of the ranks. The largest collection has rank 1. */
const SMALL_SHARE = 0.25;

export async function benchLarge(): Promise<void> {
  if (!canStartPostgres()) return recordUnmeasured('large set', 'needs PostgreSQL on this machine');
  const server = await startOwnPostgres();
  const url = await createTestDatabase(server.url);
  const pool = new pg.Pool({ connectionString: url });
  // The server stops while the last connections are closing. Without a listener, the `error` event would end the process.
  pool.on('error', () => undefined);
  const database = createDatabase(pool, { engine: 'postgresql', name: 'main' });
  try {
    const { collections, largestId } = await createLargeSet(database, {
      scale: Number(process.env['BENCH_SCALE'] ?? 1),
      now: Date.now(),
    });
    const service = await startServer(['service'], { DATABASE_URL: url, PORT: '0' });
    try {
      await benchReads(service.url, { collections, largestId });
    } finally {
      await service.stop();
    }
  } finally {
    await database.close();
    await server.discard();
  }
}

async function benchReads(
  base: string,
  { collections, largestId }: { collections: number; largestId: string },
): Promise<void> {
  for (const sort of SORTS) {
    await report(`list, sort ${sort}`, (round) => `${base}/v1/collections?sort=${sort}&limit=${round + 25}`);
  }
  await reportWallet(base, largestId);
  const small = (round: number) => `large-${Math.floor(collections * SMALL_SHARE) + round}`;
  // Each spelling of the address is another URL, so that no read finds a cached response.
  const largest = (round: number) => spell(largestId, round);
  for (const [name, idOf] of [
    ['largest', largest],
    ['small', small],
  ] as const) {
    await report(`detail, ${name} collection`, (round) => `${base}/v1/collections/${idOf(round)}`);
    await report(`floor, ${name} collection`, (round) => `${base}/v1/collections/${idOf(round)}/floor`);
    await report(`sales, ${name} collection`, (round) => `${base}/v1/collections/${idOf(round)}/sales`);
    const explored = (round: number, path: string) => `${base}/explore/v1/collections/${idOf(round)}/${path}`;
    for (const sort of TOKEN_SORTS) {
      await report(`tokens by ${sort}, ${name} collection`, (round) => explored(round, `tokens?sort=${sort}`));
    }
    await report(`tokens not listed, ${name} collection`, (round) => explored(round, 'tokens?listed=false'));
    await report(`holders, ${name} collection`, (round) => explored(round, 'holders'));
  }
}

/** Measures the lists of a wallet over all collections. The wallet is the owner of a token of the largest collection. */
async function reportWallet(base: string, largestId: string): Promise<void> {
  const response = await fetch(`${base}/explore/v1/collections/${largestId}/tokens?sort=id&limit=100`);
  const { data } = (await response.json()) as { data: { owner: { address: string | null } }[] };
  const owner = data.map((token) => token.owner.address).find((address) => address !== null);
  if (owner === undefined) throw new Error('no token of the largest collection has an owner');
  for (const list of ['tokens', 'listings']) {
    await report(`${list} of a wallet`, (round) => `${base}/explore/v1/wallets/${spell(owner, round)}/${list}`);
  }
}

/** Reads a different URL each round. Judges the median. A degraded response counts as a failure. */
async function report(name: string, urlOf: (round: number) => string): Promise<void> {
  const times: number[] = [];
  let degraded = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const start = performance.now();
    const response = await fetch(urlOf(round));
    const body = await response.text();
    const ms = performance.now() - start;
    if (!response.ok) throw new Error(`${name}: ${response.status} ${body}`);
    // The first read prepares statements and connections, so it does not count.
    if (round > 0) times.push(ms);
    // Only a degraded response has so short a lifetime.
    if (response.headers.get('cache-control')?.includes(`s-maxage=${SHORT_POLICY.sharedMaxAgeS},`)) degraded += 1;
  }
  judge({
    name: `large set, ${name}, cold`,
    figure: median(times),
    unit: 'ms',
    rounds: times,
    aim: { atMost: AIM_MS },
    failures: degraded,
  });
}

/** Spells the id differently in each round: a letter is in upper case if its bit of `round` is set. */
function spell(id: string, round: number): string {
  let bit = 0;
  return id.replaceAll(/[a-f](?=[0-9a-f]*$)/g, (letter) => ((round >> bit++) & 1 ? letter.toUpperCase() : letter));
}
