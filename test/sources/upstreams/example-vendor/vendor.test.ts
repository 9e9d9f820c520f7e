// A vendor needs only a folder of its own and an entry in the list of vendors. These tests prove this with the example marketplace
// in this folder. They cover its settings, doctor, ingest and status.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkOutside } from '../../../../src/cli/doctor/outside.ts';
import { readConfig } from '../../../../src/service/config.ts';
import { createChains } from '../../../../src/platform/core/chains.ts';
import { OperatorError } from '../../../../src/platform/core/errors.ts';
import { RecordedFields } from '../../../../src/sources/upstreams/recorded-format.ts';
import { VENDORS } from '../../../../src/sources/upstreams/registry.ts';
import { forOneEngine } from '../../../support/engines/each-engine.ts';
import type { Route } from '../../../support/replay/replay.ts';
import { ReplayResponse, startReplayServer } from '../../../support/replay/replay.ts';
import { startTestService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { exampleVendor } from './vendor.ts';

const vendors = [...VENDORS, exampleVendor];
const CONTRACT = '0x00000000000000000000000000000000000000aa';
const COLLECTION = `ethereum_${CONTRACT}`;
const HANDLE = 'paper-boats';
const KEY = 'an-example-key';
const LIMIT_MS = 60_000;

type PublicTask = { name: string; rows: object };

const readFixture = (page: number) =>
  JSON.parse(readFileSync(new URL(`./fixtures/listings-${page}.json`, import.meta.url), 'utf8')) as {
    listings: unknown[];
  };

const routes: Route[] = [
  {
    path: /^\/collections\/(?<handle>[^/]+)\/listings$/,
    origin: 'schema',
    answer: ({ groups, query, headers }) => {
      if (headers['x-key'] !== KEY) return new ReplayResponse(401);
      if (groups['handle'] !== HANDLE) return new ReplayResponse(404);
      return readFixture(query.get('cursor') === 'page-2' ? 2 : 1);
    },
  },
  {
    path: /^\/health$/,
    origin: 'schema',
    answer: ({ headers }) => (headers['x-key'] === KEY ? {} : new ReplayResponse(401)),
  },
];

test('the settings of a vendor are validated together with all other settings', () => {
  assert.throws(
    () => readConfig({ EXAMPLE_URL: 'nowhere', PORT: 'x' }, {}, vendors),
    (error) =>
      error instanceof OperatorError && /PORT must be/.test(error.message) && /EXAMPLE_URL must be/.test(error.message),
  );
  const secret = 'two words';
  assert.throws(
    () => readConfig({ EXAMPLE_API_KEY: secret }, {}, vendors),
    (error) => error instanceof OperatorError && !error.message.includes(secret),
  );
});

test('a vendor whose key is not set is not enabled, and doctor does not probe it', () => {
  const example = readConfig({}, {}, vendors).vendors.find(({ name }) => name === exampleVendor.name);
  assert.deepEqual([example?.isEnabled, example?.probes()], [false, []]);
});

test('doctor sends the key of a vendor, and reports whether the vendor accepts it', async (t) => {
  const server = await startReplayServer(t, routes);
  const examine = async (key: string) => {
    const settings = { EXAMPLE_URL: server.url, EXAMPLE_API_KEY: key, PRICE_SOURCES: 'none' };
    const findings = await checkOutside(readConfig(settings, {}, vendors), AbortSignal.timeout(LIMIT_MS));
    return findings.find(({ name }) => name === exampleVendor.name);
  };
  assert.equal((await examine(KEY))?.level, 'ok');
  const finding = await examine('another-key');
  assert.deepEqual(
    [finding?.level, finding?.mend],
    ['fail', 'check EXAMPLE_URL and EXAMPLE_API_KEY: the key was not accepted'],
  );
});

test('recorded responses of a vendor can be imported', () => {
  const [format] = exampleVendor.formats;
  assert.ok(format);
  const values = new Map([
    ['chain', 'ethereum'],
    ['contractAddress', CONTRACT],
  ]);
  const fields = new RecordedFields(format, values, { chains: createChains(), now: Date.now() });
  const reader = format.createReader(fields);
  const rows = reader.toRows(readFixture(2), { isElement: false });
  assert.ok(Array.isArray(rows));
  const [record] = reader.parse(rows[0]).records;
  assert.deepEqual([record?.kind, record?.['tokenId'], record?.['priceRaw']], ['listing', '9', '3000000000000000000']);
});

forOneEngine('a vendor of one folder', (engine) => {
  test('the listings of a followed collection of a vendor are ingested and served', async (t) => {
    const server = await startReplayServer(t, routes);
    const service = await startTestService({
      settings: { ...(await engine.settings()), EXAMPLE_URL: server.url, EXAMPLE_API_KEY: KEY },
      vendors,
    });
    t.after(service.close);
    const added = await service.operate('collections.add', {
      chain: 'ethereum',
      address: CONTRACT,
      name: 'Paper Boats',
      slug: HANDLE,
      example: HANDLE,
    });
    assert.equal(added.status, 200, JSON.stringify(added.body));
    const listed = await service.operate('collections.list', {});
    assert.deepEqual(
      [
        listed.body.result[0]?.exampleHandle,
        listed.body.result[0]?.openseaSlug,
        listed.body.result[0]?.magicedenSymbol,
      ],
      [HANDLE, null, null],
    );
    const readTask = async () => {
      const { data } = (await (await fetch(`${service.url}/status`)).json()) as { data: { tasks: PublicTask[] } };
      return data.tasks.find(({ name }) => name === 'example-listings');
    };
    const isDone = async () => (await service.ok(`/v1/collections/${HANDLE}/listings`)).data.length === 3;
    await until(isDone, LIMIT_MS, 'the listings were not ingested');
    await until(
      async () =>
        JSON.stringify((await readTask())?.rows) === JSON.stringify({ read: 3, changed: 3, refused: 0, retired: 0 }),
      LIMIT_MS,
      'the status does not show what the task ingested',
    );
    const { data } = await service.ok(`/v1/collections/${COLLECTION}/listings`);
    assert.deepEqual(
      data.map((row: { tokenId?: string }) => row.tokenId),
      ['7', '8', '9'],
    );
    assert.ok(server.requests.every((request) => request.includes(HANDLE)));
  });
});
