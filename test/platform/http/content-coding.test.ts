// The encoding of response bodies: decoding gives the original body, and large bodies are encoded with less effort.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import { encode } from '../../../src/platform/http/content-coding.ts';

const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync };

const points = (count: number) =>
  Buffer.from(
    JSON.stringify(Array.from({ length: count }, (_, n) => ({ at: n * 3_600, floorRaw: String(n * n * 7_919) }))),
  );

test('every coding keeps the content of a small and of a large body', async () => {
  for (const body of [points(100), points(20_000)]) {
    for (const coding of ['br', 'gzip', 'zstd'] as const) {
      assert.ok(DECODERS[coding](await encode(body, coding)).equals(body), coding);
    }
  }
});

test('a body of 256 KiB or more is encoded with less effort than a smaller one', async () => {
  const [small, large] = [points(6_000), points(8_000)];
  assert.ok(small.length < 256 * 1_024 && large.length >= 256 * 1_024);
  assert.equal((await encode(small, 'gzip')).length, gzipSync(small).length);
  const encoded = (await encode(large, 'gzip')).length;
  assert.ok(encoded > gzipSync(large).length);
  assert.equal(encoded, gzipSync(large, { level: 2 }).length);
});
