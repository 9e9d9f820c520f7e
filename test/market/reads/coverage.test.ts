// Tests which coverage an import stores: for which times the sales and listings of a collection count as complete.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import { Ingester } from '../../../src/sources/upstreams/ingester.ts';
import { listCoverage } from '../../../src/market/index/queries/coverage.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import {
  EVM,
  NOW,
  emptyTables,
  ingest,
  listing,
  runImport,
  sale,
  toContext,
  toNdjson,
  token,
} from '../../support/service/intake.ts';

const COLLECTION = `ethereum_${EVM}`;
forOneEngine('coverage of imports', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  const stored = async () => {
    const found = await listCoverage(db, [COLLECTION], ['listings', 'sales', 'tokens', 'owners']);
    return (found.get(COLLECTION) ?? []).map(({ subject, source, from, to }) => [
      subject,
      source,
      from === null ? null : from - NOW,
      to - NOW,
    ]);
  };

  test('after an import, stored sales count as complete for all times up to the newest one, and listings up to the import', async () => {
    const sold = (ago: number) => sale({ tx: `0x${ago}`, timestamp: new Date(NOW - ago).toISOString() });
    await ingest(db, sold(7_000), sold(5_000), token());
    assert.deepEqual(await stored(), [['sales', 'import', null, -5_000]]);
    await ingest(db, listing());
    assert.deepEqual(new Set((await stored()).map(String)), new Set(['listings,import,,0', 'sales,import,,-5000']));
  });

  test('no coverage is stored by a dry run, or for records that a worker reads from a vendor', async () => {
    await runImport(toContext(db), toNdjson([sale(), listing()]), { dryRun: true });
    await new Ingester(toContext(db)).ingest([sale(), listing()]);
    assert.deepEqual(await stored(), []);
  });
});
