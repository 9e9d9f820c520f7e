// Tests each row of the table in docs/provenance.md, which names the producers of each figure. The producer runs alone on each of
// its chains. The figure is read over HTTP soon afterwards, a minute before its maximum age, and at its maximum age.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { ChainEvent } from '../../../../src/market/chain-log/chain-event.ts';
import {
  insertChainCursor,
  updateChainCursor,
  updateChainRevision,
} from '../../../../src/market/chain-log/queries/chain-cursors.ts';
import { applyEvents } from '../../../../src/sources/chains/apply-block.ts';
import { projectAndCover } from '../../../../src/sources/chains/coverage.ts';
import type { Address, AssetId } from '../../../../src/platform/core/address.ts';
import { createChains } from '../../../../src/platform/core/chains.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../../src/platform/core/evm.ts';
import { ITEM_TYPE } from '../../../../src/platform/core/seaport.ts';
import type { Databases } from '../../../../src/platform/database/open.ts';
import { openDatabases } from '../../../../src/platform/database/open.ts';
import { updateFollowProgress, upsertFollow } from '../../../../src/market/follows/queries/follows.ts';
import type { CoverageSubject } from '../../../../src/market/provenance/coverage.ts';
import type { ProvenanceKind } from '../../../../src/market/provenance/figure.ts';
import { PROVENANCE_KINDS } from '../../../../src/market/provenance/figure.ts';
import { Ingester } from '../../../../src/sources/upstreams/ingester.ts';
import { forOneEngine } from '../../../support/engines/each-engine.ts';
import { toContext } from '../../../support/service/intake.ts';
import type { TestCollection } from '../../../support/service/market.ts';
import {
  BUYER,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  SELLER,
  SOLANA_SELLER,
  START,
  mintOf,
  newCollection,
} from '../../../support/service/market.ts';
import type { TestService } from '../../../support/service/service.ts';
import { startTestService } from '../../../support/service/service.ts';

const CHAINS = createChains();
const LONG_MS = 40 * DAY_MS;
/**
 * The age of figures at their first read. The producer runs on one chain after the other, a minute apart. When the figures of the
 * first chain have this age, the producer has run on every chain.
 */
const FIRST_READ_AGE_MS = 10 * MINUTE_MS;

type Producer = { figure: string; chains: string[]; producer: string; kind: string; maxAgeMs: number | null };

function readProducers(): Producer[] {
  const document = readFileSync(new URL('../../../../docs/provenance.md', import.meta.url), 'utf8');
  const rows = document.matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| `(\w+)` \| ([^|]+) \|$/gm);
  return [...rows].map(([, figure = '', chains = '', producer = '', kind = '', age = '']) => ({
    figure,
    chains: chains.split(', ').flatMap((name) => (name === 'EVM' ? EVM_CHAINS : [name])),
    producer,
    kind,
    maxAgeMs: age === 'none' ? null : toMs(age),
  }));
}

const EVM_CHAINS = [...CHAINS.values()].filter(({ family }) => family === 'evm').map(({ id }) => id);

function toMs(age: string): number {
  const [amount, unit] = age.split(' ');
  return Number(amount) * (unit === 'h' ? HOUR_MS : MINUTE_MS);
}

/** Every producer reports one token, which is listed once at this price in base units. */
const FLOOR = '5';
const SEAPORT = '0x00000000000000adc04c56bf30ac9d3c0aaf14dc' as Address;
/** Volume and number of sales: the token was sold once, now, for one native unit. */
const STATED = { allTime: 1, sevenDay: 1, twentyFourHour: 1 };
const WINDOWS = { allTime: 1, thirtyDay: 1, sevenDay: 1, twentyFourHour: 1, oneHour: 1 };

const PRODUCERS = readProducers();

test('the table has the producers of every figure, the strongest first', () => {
  assert.deepEqual(
    [...new Set(PRODUCERS.map(({ figure }) => figure))],
    [
      'floor',
      ...['volume', 'sales'].flatMap((name) => Object.keys(WINDOWS).map((window) => `${name}.${window}`)),
      'supply',
      'owners',
      'listedCount',
    ],
  );
  for (const producers of Map.groupBy(PRODUCERS, ({ figure }) => figure).values()) {
    const strengths = producers.map(({ kind }) => PROVENANCE_KINDS.indexOf(kind as ProvenanceKind));
    assert.deepEqual(
      strengths,
      strengths.toSorted((a, b) => a - b),
    );
    assert.deepEqual(new Set(producers.flatMap(({ chains }) => chains)), new Set(CHAINS.keys()));
  }
});

forOneEngine('each producer of docs/provenance.md', (engine) => {
  describe('service', () => {
    let now = START;
    let service: TestService;
    let databases: Databases;
    before(async () => {
      service = await startTestService({
        settings: await engine.settings(),
        clock: () => now,
        open: async (config, log) => (databases = await openDatabases(config, log)),
      });
    });
    after(() => service.close());

    const context = () => ({
      ...toContext(databases.main, { clock: () => now }),
      indexer: databases.indexer,
    });
    const assetOf = ({ chain }: TestCollection) => (chain === 'solana' ? mintOf('one') : '1');
    const nativeUnit = ({ chain }: TestCollection) => 10n ** BigInt(CHAINS.get(chain)?.decimals ?? 0);
    const records = {
      token: (one: TestCollection) =>
        one.token(assetOf(one), { owner: one.chain === 'solana' ? SOLANA_SELLER : SELLER }),
      sale: (one: TestCollection) =>
        one.sale(assetOf(one), nativeUnit(one), { timestamp: new Date(now).toISOString() }),
      listing: (one: TestCollection) => one.listing(assetOf(one), FLOOR),
    };
    const scan = async (one: TestCollection, kind: keyof typeof records, subjects: CoverageSubject[]) => {
      await service.load([one.collection()]);
      const ingester = new Ingester(context());
      await ingester.ingest([records[kind](one)]);
      for (const subject of subjects) {
        await ingester.saveCoverage({ collectionId: one.id, subject, source: 'opensea', from: null, to: now });
      }
    };
    let block = 0;
    const followOnChain = async (one: TestCollection) => {
      const { main, indexer } = databases;
      block += 1;
      const hash: Hex = `0x${block.toString(16).padStart(64, '0')}`;
      const at = { number: block, hash, time: now };
      const place = { blockNumber: block, blockTime: now, tx: hash, part: 0 };
      const [contract, seller, buyer] = [one.address, SELLER, BUYER] as Address[] as [Address, Address, Address];
      const nft = { itemType: ITEM_TYPE.erc721, token: contract, identifier: 1n, amount: 1n };
      const payment = { itemType: ITEM_TYPE.native, token: ZERO_ADDRESS, identifier: 0n, amount: nativeUnit(one) };
      const events: ChainEvent[] = [
        {
          ...place,
          kind: 'transfer',
          logIndex: 0,
          contract,
          tokenId: '1' as AssetId,
          from: ZERO_ADDRESS,
          to: buyer,
          quantity: 1n,
        },
        {
          ...place,
          kind: 'order-fulfilled',
          logIndex: 1,
          protocol: SEAPORT,
          orderHash: hash,
          offerer: seller,
          zone: ZERO_ADDRESS,
          recipient: buyer,
          offer: [nft],
          consideration: [{ ...payment, recipient: seller }],
        },
      ];
      await service.load([one.collection()]);
      await main.transaction(async (tx) => {
        await insertChainCursor(tx, one.chain, at, now);
        await updateChainCursor(tx, one.chain, at, { now });
        await upsertFollow(tx, {
          collectionId: one.id,
          chain: one.chain,
          contractAddress: contract,
          standard: 'erc721',
          fromBlock: 0,
          names: new Map(),
          createdAt: now,
        });
        await updateFollowProgress(tx, one.id, { readToBlock: block, joined: true });
        await updateChainRevision(tx, one.chain);
        await applyEvents(tx, one.chain, events, now);
      });
      const chain = CHAINS.get(one.chain) ?? assert.fail(one.chain);
      const projection = { main, indexer, chain, chains: CHAINS, serviceName: 'mercat', clock: () => now };
      while ((await projectAndCover(projection)) !== null);
    };

    const produce: Record<string, (one: TestCollection) => Promise<unknown>> = {
      'own orders': (one) => service.load([one.collection(), one.order('1', FLOOR)]),
      'mirrored listings': (one) => scan(one, 'listing', []),
      'analytics record': (one) =>
        service.load([one.collection(), one.analytics({ floorRaw: FLOOR, volume: STATED, sales: STATED })]),
      'stats record': (one) =>
        service.load([one.collection(), one.stats({ floorRaw: FLOOR, owners: 1, supply: 1, listedCount: 1 })]),
      'stored snapshot': (one) =>
        service.load([one.collection({ snapshot: { floorRaw: FLOOR, volumeAllTime: 1, supply: 1, owners: 1 } })]),
      'imported sales': (one) => service.load([one.collection(), records.sale(one)]),
      'imported tokens': (one) => service.load([one.collection({ tokensComplete: true }), records.token(one)]),
      'imported listings': (one) => service.load([one.collection(), records.listing(one)]),
      'scan of sales': (one) => scan(one, 'sale', ['sales']),
      'scan of tokens': (one) => scan(one, 'token', ['tokens', 'owners']),
      'scan of listings': (one) => scan(one, 'listing', ['listings']),
      'chain log': followOnChain,
    };

    const readStats = async ({ slug }: TestCollection) => {
      const { floor, ...figures } = (await service.ok(`/explore/v1/collections/${slug}`)).data.stats;
      return { ...figures, floor: floor?.raw ?? null };
    };
    const valueOf = (stats: object, figure: string): unknown =>
      figure.split('.').reduce((value: any, name) => value[name], stats);

    for (const [producer, rows] of Map.groupBy(PRODUCERS, (row) => row.producer)) {
      const names = rows.map(({ figure }) => figure);
      const chains = new Set(rows.flatMap((row) => row.chains));
      test(`${producer} alone gives each figure up to its maximum age, on ${chains.size} chains: ${names.join(', ')}`, async () => {
        const all = [...chains].map((chain) => newCollection({ chain }));
        const startedAt = new Map<TestCollection, number>();
        for (const one of all) {
          now += MINUTE_MS;
          startedAt.set(one, now);
          await (produce[producer] ?? assert.fail(producer))(one);
        }
        /** Reads each collection at `ageMs` after its producer ran, and compares the figures of this producer. */
        const check = async (ageMs: number, isExpected: (row: Producer) => boolean) => {
          for (const one of all) {
            now = (startedAt.get(one) ?? 0) + ageMs;
            const stats = await readStats(one);
            for (const row of rows.filter((each) => each.chains.includes(one.chain))) {
              const known = row.figure === 'floor' ? FLOOR : 1;
              const what = `${row.figure} on ${one.chain} after ${ageMs} ms`;
              assert.equal(valueOf(stats, row.figure), isExpected(row) ? known : null, what);
            }
          }
        };
        const ages = [...new Set(rows.map(({ maxAgeMs }) => maxAgeMs ?? LONG_MS))].toSorted((a, b) => a - b);
        // These ages lie so far apart that no read is served from the response cache.
        for (const ageMs of [FIRST_READ_AGE_MS, ...ages.flatMap((age) => [age - MINUTE_MS, age])]) {
          await check(ageMs, ({ maxAgeMs }) => maxAgeMs === null || ageMs < maxAgeMs);
        }
      });
    }

    test('a newer report of a marketplace does not replace the figures of a followed chain', async () => {
      const one = newCollection();
      await followOnChain(one);
      const reported = { allTime: 777, sevenDay: 777, twentyFourHour: 777 };
      await service.load([
        one.stats({ owners: 777, supply: 777 }),
        one.analytics({ volume: reported, sales: reported }),
      ]);
      const { volume, sales, supply, owners } = (await service.ok(one.path)).data.stats;
      assert.deepEqual([volume, sales, supply, owners], [STATED, STATED, 1, 1]);
    });

    test('a day after every upstream has stopped, no outdated figure is served', async () => {
      const [reported, scanned, followed] = [newCollection(), newCollection(), newCollection()];
      await produce['stats record']?.(reported);
      await produce['analytics record']?.(reported);
      await scan(scanned, 'sale', ['sales']);
      await scan(scanned, 'token', ['tokens', 'owners']);
      await scan(scanned, 'listing', ['listings']);
      await followOnChain(followed);
      const statsOf = async (one: TestCollection) => (await service.ok(one.path)).data.stats;
      for (const one of [reported, scanned]) {
        const { floor, ...figures } = await statsOf(one);
        assert.equal(floor.raw, FLOOR);
        assert.deepEqual(figures, { volume: STATED, sales: STATED, supply: 1, owners: 1, listedCount: 1 });
      }
      now += DAY_MS;
      // One figure stays known: the floor of the listings that are still served.
      const unknown = { allTime: null, sevenDay: null, twentyFourHour: null };
      for (const one of [reported, scanned, followed]) {
        const { floor, ...figures } = await statsOf(one);
        assert.deepEqual(figures, { volume: unknown, sales: unknown, supply: null, owners: null, listedCount: null });
        const [first = null] = (await service.ok(`${one.path}/listings`)).data;
        assert.deepEqual(floor, first && first.price, 'the floor is not the price of the first listing');
      }
    });
  });
});
