// Measures uncached reads of bids with a million bids on 20,000 collections: the top bids of a page of collections and of a batch of tokens, and the offers for a
// wallet with 500 tokens. Each read is measured as its statement and as its HTTP request. `BENCH_SCALE` (default 1) scales the set.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { BidSubject } from '../../src/market/explore/queries/bids.ts';
import { listOffers, listTopBids } from '../../src/market/explore/queries/bids.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { Random } from '../../sample/random.ts';
import { canStartPostgres, createTestDatabase, startOwnPostgres } from '../../test/support/engines/postgres-server.ts';
import { median, timeMs } from '../support/measure.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';
import type { BidsSet } from './bids-set.ts';
import { createBidsSet } from './bids-set.ts';
import { startServer } from './hot-listings.ts';

const ROUNDS = 300;
/** The first rounds are not counted: the connections are opened, and the statements prepared. */
const WARM_UP = 20;
const AIM_MS = 25;
const COLLECTIONS_OF_PAGE = 25;
const TOKENS_OF_BATCH = 100;
const SERVER_SETTINGS = {
  shared_buffers: `${Math.floor(os.totalmem() / 4 / 2 ** 20)}MB`,
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
};
const FILL_OPTIONS = '-c maintenance_work_mem=1GB -c work_mem=256MB -c synchronous_commit=off';

export async function benchBids(): Promise<void> {
  if (!canStartPostgres()) return recordUnmeasured('reads of bids', 'needs PostgreSQL on this machine');
  const server = await startOwnPostgres({ settings: SERVER_SETTINGS });
  try {
    const url = await createTestDatabase(server.url);
    const set = await withDatabase(url, FILL_OPTIONS, (database) =>
      createBidsSet(database, { scale: Number(process.env['BENCH_SCALE'] ?? 1), now: Date.now() }),
    );
    await withDatabase(url, '', (database) => measureStatements(database, set));
    await measureRequests(url, set);
  } finally {
    await server.discard();
  }
}

async function withDatabase<T>(url: string, options: string, work: (database: Database) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: url, options });
  // The server stops while the last connections are closing. Without a listener, the `error` event would end the process.
  pool.on('error', () => undefined);
  const database = createDatabase(pool, { engine: 'postgresql', name: 'main' });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function measureStatements(database: Database, set: BidsSet): Promise<void> {
  const draw = createDraw(set);
  const now = Date.now();
  const topBids = (subjects: readonly BidSubject[]) => listTopBids(database, subjects, now);
  await measure(set, 'statement, top bids of 25 collections', () =>
    topBids(draw.collections().map((collectionId) => ({ collectionId, asset: null }))),
  );
  await measure(set, 'statement, top bids of 100 tokens', () =>
    topBids(draw.tokens().map(({ collectionId, tokenId }) => ({ collectionId, asset: tokenId }))),
  );
  await measure(set, 'statement, offers for a wallet with 500 tokens', (round) =>
    listOffers(database, { account: draw.wallet(round), chains: ['ethereum'], after: null, limit: 26, now }),
  );
}

async function measureRequests(url: string, set: BidsSet): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const service = await startServer(['service'], { DATA_DIR: dir, DATABASE_URL: url, PORT: '0' });
  try {
    const base = `${service.url}/explore/v1`;
    const draw = createDraw(set);
    const read = async (target: string, init: RequestInit = {}) => {
      const response = await fetch(`${base}${target}`, init);
      const body = await response.text();
      if (!response.ok) throw new Error(`${target}: ${response.status} ${body}`);
    };
    await measure(set, 'request, page of 25 collections with top bids', () =>
      read(`/collections?ids=${draw.collections().join()}`),
    );
    await measure(set, 'request, 100 tokens with top bids', () => {
      const tokens = draw.tokens().map(({ address, tokenId }) => ({ chain: 'ethereum', address, tokenId }));
      const headers = { 'content-type': 'application/json' };
      return read('/tokens/batch', { method: 'POST', headers, body: JSON.stringify({ tokens }) });
    });
    // Another page size makes the URL different, so the response does not come from the cache.
    await measure(set, 'request, offers for a wallet with 500 tokens', (round) =>
      read(`/wallets/${draw.wallet(round)}/offers?limit=${20 + (Math.floor(round / set.wallets.length) % 80)}`),
    );
  } finally {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Draws what the next round reads. */
function createDraw({ collectionIds, tokens, wallets }: BidsSet) {
  const random = new Random('bids');
  const some = <T>(from: readonly T[], count: number): T[] => Array.from({ length: count }, () => random.pick(from));
  return {
    collections: () => some(collectionIds, COLLECTIONS_OF_PAGE),
    tokens: () => some(tokens, TOKENS_OF_BATCH),
    wallet: (round: number) => wallets[round % wallets.length] ?? '',
  };
}

async function measure(set: BidsSet, name: string, read: (round: number) => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const ms = await timeMs(() => read(round));
    if (round >= WARM_UP) times.push(ms);
  }
  const sorted = times.toSorted((a, b) => a - b);
  judge({
    name: `bids, ${set.bids} bids, ${name}, cold, p99`,
    figure: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN,
    unit: 'ms',
    rounds: times,
    aim: { atMost: AIM_MS },
    beside: `median ${median(times).toFixed(1)} ms`,
  });
}
