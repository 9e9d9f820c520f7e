// Tests how the console writes amounts, counts, and texts of strangers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAmount, formatChange, formatCount, formatUsd } from '../../console/src/format/amount.ts';
import { toVisible, toVisibleName } from '../../console/src/format/strangers-text.ts';
import { parseGateways, toPictureUrl } from '../../console/src/parts/picture-url.ts';

test('a number of any size is written in a few characters, and a number without a short form as a bound', () => {
  for (const value of [0, 1e-18, 0.42, 1_234.5, 999_999, 5e14, 1e15, 1e59, Number(2n ** 256n)]) {
    assert.ok(formatAmount(value).length <= 9, formatAmount(value));
    assert.ok(formatUsd(value).length <= 9, formatUsd(value));
    assert.ok(formatChange(value).length <= 9, formatChange(value));
  }
  assert.equal(formatAmount(1e15), '>999T');
  assert.equal(formatUsd(1e59), '>$999T');
  assert.equal(formatCount(2n ** 256n - 1n), '>999T');
  assert.equal(formatAmount(999e12), '999T');
});

test('characters that reorder a text are marked, and characters without a width are removed', () => {
  assert.equal(toVisible('Tok \u202e12345'), 'Tok \ufffd12345');
  assert.equal(toVisible('a\u2066b\u2069c\u0007d\ne'), 'a\ufffdb\ufffdc\ufffdd\ne');
  assert.equal(toVisible('Pun\u200bks\ufeff'), 'Punks');
  const family = '👨\u200d👩\u200d👧';
  assert.equal(toVisible(family), family);
  assert.equal(toVisible('שלום'), 'שלום');
});

test('a name without a visible character is no name', () => {
  for (const name of [null, '', '  ', '\u200b', '\u2800\u3164', '\u200d']) assert.equal(toVisibleName(name), null);
  assert.equal(toVisibleName(' Mug '), 'Mug');
});

test('pictures of IPFS and Arweave are loaded from their gateways, and all other pictures from their own hosts', () => {
  const gateways = parseGateways('ipfs=https://gateway.example/ipfs ar=https://arweave.example');
  const shown = (url: string) => toPictureUrl(url, gateways);
  assert.equal(shown('ipfs://Qm1/7.png'), 'https://gateway.example/ipfs/Qm1/7.png');
  assert.equal(shown('IPFS://ipfs/Qm1/7.png'), 'https://gateway.example/ipfs/Qm1/7.png');
  assert.equal(shown('ar://abc'), 'https://arweave.example/abc');
  assert.equal(shown('https://pictures.example/ipfs.png'), 'https://pictures.example/ipfs.png');
  assert.equal(shown('http://127.0.0.1:8080/mercat/explore/v1/images/base_0x1/2'), 'explore/v1/images/base_0x1/2');
  assert.equal(toPictureUrl('ar://abc', parseGateways('ipfs=https://gateway.example/ipfs')), null);
  assert.equal(toPictureUrl('ipfs://Qm1', parseGateways('')), null);
});
