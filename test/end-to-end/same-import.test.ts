// A file gives the same rows in three ways: imported by the command without a server, imported through a running server, and read
// from the feed. The settings add a deployment of Seaport, which each way must use.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/service/config.ts';
import type { Address } from '../../src/platform/core/address.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { openDatabases } from '../../src/platform/database/open.ts';
import { accountOf, hashAsk, SEAPORT_1_6, signOrder, toAsk, toParameters } from '../support/chain/signed-orders.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import { createFeedStore, feedRoutes } from '../support/replay/feed.ts';
import { startReplayServer } from '../support/replay/replay.ts';
import { collection, dumpTables, EVM, listing, order, sale, token, toNdjson } from '../support/service/intake.ts';
import { startTestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { programEnvironment } from '../support/program-environment.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const EXTRA_DEPLOYMENT = '0x00000000000000000000000000000000005ea907' as Address;
const AT = '2026-05-01T00:00:00Z';
const FEED_TIMEOUT_MS = 60_000;

const ask = toAsk({
  offerer: accountOf(1).lower,
  contract: EVM,
  tokenId: 7n,
  price: 1_000n,
  start: 1_780_000_000,
  end: 4_000_000_000,
});

/** Records of every kind that all three ways accept. The order is signed for the deployment that the settings add. */
async function toRecords(): Promise<object[]> {
  const signature = await signOrder(1, ask, { ...SEAPORT_1_6, address: EXTRA_DEPLOYMENT });
  return [
    collection({ createdAt: AT }),
    token({ name: 'One' }),
    listing(),
    sale({ tx: '0x1', logIndex: 1 }),
    order({
      tokenId: '7',
      priceRaw: '1000',
      seller: ask.offerer,
      seaport: { parameters: toParameters(ask), signature },
    }),
    { kind: 'stats', chain: 'ethereum', contractAddress: EVM, owners: 3, at: AT },
    { kind: 'analytics', chain: 'ethereum', contractAddress: EVM, floorRaw: '5', at: AT },
  ];
}

type Settings = Record<string, string>;
type Dump = Record<string, unknown[]>;

async function runImportCommand(settings: Settings, file: string): Promise<void> {
  const { HOME = '' } = process.env;
  const env = { ...programEnvironment(), HOME, ...settings };
  await promisify(execFile)(process.execPath, [MAIN, 'import', file], { env });
}

/** Dumps the databases of the settings. No service may be running on them. */
async function dump(settings: Settings): Promise<Dump> {
  const databases = await openDatabases(readConfig(settings), createLog('silent'));
  try {
    return await dumpTables(databases.main);
  } finally {
    await databases.close();
  }
}

forOneEngine('imports of one file', (engine) => {
  test('a file gives the same rows with a server, without a server, and through the feed', async (t) => {
    const newSettings = async (): Promise<Settings> => ({
      ...(await engine.settings()),
      SEAPORT_ADDRESSES: `ethereum=${EXTRA_DEPLOYMENT}@1.6`,
    });
    const records = await toRecords();
    const file = path.join(temporaryDirectory(), 'records.ndjson');
    writeFileSync(file, toNdjson(records));

    const alone = await newSettings();
    await runImportCommand(alone, file);
    const withoutServer = await dump(alone);
    const [stored] = withoutServer['main.book_order'] ?? [];
    assert.match(
      String(stored),
      new RegExp(`${hashAsk(ask)}.*${EXTRA_DEPLOYMENT}`),
      'the signed order was not accepted',
    );

    const served = await newSettings();
    const server = await startTestService({ settings: served });
    try {
      await runImportCommand(served, file);
    } finally {
      await server.close();
    }
    assert.deepEqual(await dump(served), withoutServer);

    const replay = await startReplayServer(t, feedRoutes(createFeedStore(records)));
    const fed = { ...(await newSettings()), FEED_URL: `${replay.url}/feed` };
    const follower = await startTestService({ settings: fed });
    // Sales are written in the last transaction of a batch. When the sale is served, all records are stored.
    const hasRead = async () => {
      const { status, body } = await follower.get(`/v1/collections/ethereum_${EVM}/sales`);
      return status === 200 && body.data.length > 0;
    };
    try {
      await until(hasRead, FEED_TIMEOUT_MS, 'the feed was not read');
    } finally {
      await follower.close();
    }
    assert.deepEqual(await dump(fed), withoutServer);
  });
});
