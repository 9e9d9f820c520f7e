// Tests the rarity ranks of tokens, which the service computes from the information content of their traits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RarityRanking } from '../../../src/market/index/rarity.ts';
import { needsRecordings, readRecording } from '../../support/recordings/recordings.ts';

type Tokens = readonly (readonly [asset: string, traits: Record<string, string | string[]>])[];

const ranksOf = (tokens: Tokens) => {
  const ranking = new RarityRanking();
  for (const [asset, traits] of tokens) {
    const list = Object.entries(traits).flatMap(([name, values]) => [values].flat().map((value) => ({ name, value })));
    assert.ok(ranking.add(asset, list));
  }
  return Object.fromEntries(ranking.ranks().map(({ asset, rank }) => [asset, rank]));
};

test('a token with a rarer value has a smaller rank, and tokens with the same score share a rank', () => {
  const ranks = ranksOf([
    ['1', { fur: 'grey', eyes: 'green' }],
    ['2', { fur: 'grey', eyes: 'blue' }],
    ['3', { fur: 'white', eyes: 'green' }],
    ['4', { fur: 'grey', eyes: 'green' }],
  ]);
  assert.deepEqual(ranks, { 2: 1, 3: 1, 1: 3, 4: 3 });
});

test('the score is the information of each trait added up, plus the information of the number of traits', () => {
  // The information in bits. Trait x: 1 for 'a' (2 of 4 tokens), 2 for 'c' (1 token), 2 if x is missing (1 token). Trait y: 2 for 'b' (1 token),
  // log2(4/3) if y is missing (3 tokens). Number of traits: 1 for one trait (2 tokens), 2 for two traits (1 token), 2 for none (1 token).
  const ranks = ranksOf([
    ['1', { x: 'a' }],
    ['2', { x: 'a', y: 'b' }],
    ['3', { x: 'c' }],
    ['4', {}],
  ]);
  assert.deepEqual(ranks, { 2: 1, 4: 2, 3: 3, 1: 4 });
});

test('a missing trait counts like a value that all tokens without the trait share', () => {
  const hats = (count: number): Tokens =>
    Array.from({ length: 8 }, (_, i) => [String(i), i < count ? { hat: 'yes' } : {}]);
  assert.equal(ranksOf(hats(1))['0'], 1);
  assert.deepEqual([ranksOf(hats(7))['7'], ranksOf(hats(7))['0']], [1, 2]);
});

test('tokens have the same score if the frequencies of their values have the same product', () => {
  // The first 3 tokens have a value of x that 3 tokens have, and a value of y that 8 tokens have. For the next 4 tokens, the numbers are 4
  // and 6. The products, 3 × 8 and 4 × 6, are equal.
  const tokens: Tokens = Array.from({ length: 24 }, (_, i) => {
    if (i < 3) return [String(i), { x: 'of 3', y: 'of 8' }];
    if (i < 7) return [String(i), { x: 'of 4', y: 'of 6' }];
    return [String(i), { x: 'of 17', y: i < 9 ? 'of 6' : i < 14 ? 'of 8' : 'of 10' }];
  });
  const ranks = Object.values(ranksOf(tokens));
  assert.deepEqual(ranks.slice(0, 7), [1, 1, 1, 1, 1, 1, 1]);
  assert.ok(ranks.slice(7).every((rank) => rank >= 8));
});

test('each value of a trait with several values counts, and the order of tokens and of traits has no effect', () => {
  const tokens: Tokens = [
    ['1', { tag: ['a', 'b'] }],
    ['2', { tag: ['b', 'a'] }],
    ['3', { tag: 'a' }],
    ['4', { tag: 'c' }],
    ['5', { tag: 'c' }],
  ];
  assert.deepEqual(ranksOf(tokens), { 1: 1, 2: 1, 4: 3, 5: 3, 3: 5 });
  assert.deepEqual(ranksOf(tokens.toReversed()), ranksOf(tokens));
});

test('tokens of the same rank are listed by id', () => {
  const ranking = new RarityRanking();
  for (const asset of ['10', '9', '8']) ranking.add(asset, []);
  assert.deepEqual(
    ranking.ranks().map(({ asset }) => asset),
    ['8', '9', '10'],
  );
  assert.equal(ranking.hasTraits, false);
  assert.deepEqual(new RarityRanking().ranks(), []);
});

test('a collection with too many tokens, or too many different values, is not ranked', () => {
  const add = (max: { tokens: number; values: number }, tokens: Tokens) => {
    const ranking = new RarityRanking(max);
    return tokens.map(([asset, traits]) =>
      ranking.add(
        asset,
        Object.entries(traits).map(([name, value]) => ({ name, value: String(value) })),
      ),
    );
  };
  const tokens: Tokens = [
    ['1', { hat: 'a' }],
    ['2', { hat: 'a' }],
    ['3', { hat: 'b' }],
  ];
  assert.deepEqual(add({ tokens: 2, values: 9 }, tokens), [true, true, false]);
  // The number of traits is a value too.
  assert.deepEqual(add({ tokens: 9, values: 2 }, tokens), [true, true, false]);
});

test(
  'the CryptoPunk with seven attributes is the rarest, and the nine aliens are among the rarest five percent',
  needsRecordings('rarity/cryptopunks-attributes.csv'),
  () => {
    const [, ...lines] = readRecording('rarity/cryptopunks-attributes.csv').trim().split('\n');
    const tokens = lines.map((line): Tokens[number] => {
      const [id = '', type = '', gender = '', skin = '', , accessories = ''] = line
        .split(', ')
        .map((cell) => cell.trim());
      return [id, { type, gender, skin, accessory: accessories.split(' / ').filter((name) => name !== '') }];
    });
    const ranks = ranksOf(tokens);
    assert.equal(Object.keys(ranks).length, 10_000);
    assert.equal(ranks['8348'], 1);
    const aliens = tokens.filter(([, { type }]) => type === 'Alien').map(([id]) => ranks[id] ?? Infinity);
    assert.equal(aliens.length, 9);
    assert.ok(Math.max(...aliens) <= 500, String(aliens));
  },
);
