// Tests which figures are served while no marketplace can be read for a day. A figure that a marketplace reported becomes unknown when it
// reaches its maximum age. The floor of the stored listings and the supply in the stored snapshot stay known.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { readConfig } from '../../../src/service/config.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { toCollectionId } from '../../../src/platform/core/collection.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { readCollectionDetail } from '../../../src/market/reads/collection.ts';
import type { Figure } from '../../../src/market/provenance/figure.ts';
import { MAX_AGE_MS } from '../../../src/market/provenance/figure.ts';
import { runTask } from '../../../src/platform/tasks/run.ts';
import { createVendorTasks } from '../../../src/sources/upstreams/vendor.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { FOLLOWED, SERVERS, startVendorServers } from '../../support/replay/all-vendors.ts';
import { emptySyncTables, toContext } from '../../support/service/intake.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PACE = { timeoutMs: 400, retryMs: 1, breakerOpenMs: 0 };
const [APES_ID, LANTERNS_ID] = FOLLOWED.map(({ chain, address }) => toCollectionId(chain, address as Address)) as [
  string,
  string,
];
const WINDOWS = ['sevenDay', 'twentyFourHour'];
const TOTALS = ['volume.allTime', 'sales.allTime'];
const ALL = [
  'floor',
  ...['volume', 'sales'].flatMap((name) => ['allTime', ...WINDOWS].map((window) => `${name}.${window}`)),
  'supply',
  'owners',
  'listedCount',
];
/**
 * `known`: the figures that each collection still has `afterMs` after the last complete run. The floor stays known, because it is
 * computed from the listings that are served. The supply that OpenSea reported stays known, because it is stored with the
 * collection.
 */
const EXPECTED = [
  {
    afterMs: MINUTE_MS,
    known: [
      [APES_ID, ALL],
      [LANTERNS_ID, ['floor', 'volume.twentyFourHour', 'sales.twentyFourHour', 'listedCount']],
    ],
  },
  {
    afterMs: 3 * HOUR_MS,
    known: [
      [APES_ID, ['floor', ...TOTALS, 'supply', 'owners', 'listedCount']],
      [LANTERNS_ID, ['floor', 'listedCount']],
    ],
  },
  {
    afterMs: 25 * HOUR_MS,
    known: [
      [APES_ID, ['floor', 'supply']],
      [LANTERNS_ID, ['floor']],
    ],
  },
] as const;

forOneEngine('figures of marketplaces that cannot be read', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    await emptySyncTables(db);
  });

  for (const [outage, fault] of [
    ['every upstream is dead', 'reset'],
    ['the keys are revoked', 'unauthorized'],
  ] as const) {
    test(`when ${outage} for a day, no figure of a marketplace is served after its maximum age`, async (t) => {
      let passed = 0;
      const clock = () => Date.now() + passed;
      const world = await startVendorServers(t, { now: clock, rows: 10 });
      await world.follow(db);
      const log = createLog('silent');
      const config = readConfig({ ...world.settings(), OPENSEA_HOURLY_BUDGET: '1000000' });
      const context: ServiceContext = { ...toContext(db, { clock }), config, log, random: () => 0.5 };
      const tasks = await createVendorTasks(config.vendors, context, PACE);
      const runAll = async () => {
        const stop = AbortSignal.timeout(MINUTE_MS);
        return Promise.all(
          tasks.map((task) => runTask(task, { main: db, log, random: () => 0.5, stop, force: true, isFull: true })),
        );
      };
      const figuresOf = async (id: string) => {
        const { floor, volume, sales, supply, owners, listedCount } = await readCollectionDetail(context.market, id);
        const windows = (name: string, { allTime, sevenDay, twentyFourHour }: typeof volume) => [
          [`${name}.allTime`, allTime, MAX_AGE_MS.total],
          [`${name}.sevenDay`, sevenDay, MAX_AGE_MS.window],
          [`${name}.twentyFourHour`, twentyFourHour, MAX_AGE_MS.window],
        ];
        const rows = [
          ['floor', floor, MAX_AGE_MS.floor],
          ...windows('volume', volume),
          ...windows('sales', sales),
          ['supply', supply, MAX_AGE_MS.total],
          ['owners', owners, MAX_AGE_MS.total],
          ['listedCount', listedCount, MAX_AGE_MS.total],
        ] as [string, Figure<unknown> | null, number][];
        return new Map(rows.map(([name, figure, maxAgeMs]) => [name, { figure, maxAgeMs }]));
      };
      const ends = await runAll();
      assert.deepEqual(
        ends.map(({ kind }) => kind),
        tasks.map(() => 'done'),
      );
      const lastGood = clock();
      for (const server of SERVERS) world.replays[server].fail(fault);
      for (const { afterMs, known } of EXPECTED) {
        passed += afterMs - (clock() - lastGood);
        await runAll();
        for (const [id, names] of known) {
          const figures = [...(await figuresOf(id))].flatMap(([name, { figure, maxAgeMs }]) =>
            figure === null ? [] : [{ name, figure, maxAgeMs }],
          );
          assert.deepEqual(
            figures.map(({ name }) => name),
            names,
            `${id}, after ${afterMs} ms`,
          );
          for (const { name, figure, maxAgeMs } of figures) {
            const isOfListings = name === 'floor' && figure.source === 'listings';
            const isCurrent = figure.at !== null && clock() - figure.at < maxAgeMs;
            assert.ok(isOfListings || figure.kind === 'snapshot' || isCurrent, `${name} of ${id} is too old`);
          }
        }
      }
    });
  }
});
