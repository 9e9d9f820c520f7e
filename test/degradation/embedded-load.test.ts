// Tests reads during an import. The reads and the import share the single connection of the embedded database.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { newCollection, range } from '../support/service/market.ts';
import { startTestService } from '../support/service/service.ts';

const ROWS = 12_000;
/** A response that takes longer fails the test. The time is long enough for a slow machine. */
const RESPONSE_MAX_MS = 30_000;

test('reads get complete 200 responses while many rows are imported into the embedded database', async (t) => {
  const dir = await directoryWithDatabase();
  const service = await startTestService({ settings: { DATA_DIR: dir } });
  t.after(async () => {
    await service.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const subject = newCollection();
  const other = newCollection();
  await service.load([
    ...[subject, other].flatMap((one) => [one.collection(), one.listing('1', 5), one.token('1', { name: 'One' })]),
    subject.order('2', 3),
    subject.sale('1', 7),
  ]);
  const paths = [
    '/v1/collections',
    subject.path,
    `${subject.path}/floor`,
    `${subject.path}/listings`,
    `${subject.path}/sales`,
    `/v1/tokens/ethereum/${subject.address}/1`,
  ];
  const ended = new AbortController();
  const imported = service
    .load(
      range(ROWS).flatMap((index) => [
        other.listing(String(index + 10), 1_000 + index),
        subject.sale(String(index + 10), 1_000 + index, { tx: `0x${index.toString(16).padStart(64, '0')}` }),
      ]),
    )
    .finally(() => ended.abort());
  const times: { path: string; ms: number }[] = [];
  while (!ended.signal.aborted) {
    for (const path of paths) {
      const startedAt = performance.now();
      const { status, text, body } = await service.get(path);
      times.push({ path, ms: performance.now() - startedAt });
      assert.equal(status, 200, text);
      assert.equal(body.meta, undefined);
      assert.notEqual(body.data.stale, true);
    }
  }
  const summary = await imported;
  const slowest = times.toSorted((a, b) => b.ms - a.ms)[0];
  t.diagnostic(`${times.length} reads while ${summary.read} rows were imported in ${summary.seconds} s`);
  t.diagnostic(`the slowest: ${slowest?.path.replace(subject.slug, '{id}')} after ${Math.round(slowest?.ms ?? 0)} ms`);
  assert.ok(times.length > paths.length, 'each path was read at most once during the import');
  assert.ok((slowest?.ms ?? 0) < RESPONSE_MAX_MS);
});
