// Tests the trigrams of names, and the similarity of names, which is computed from trigrams.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../../sample/random.ts';
import { similarityOf, toIndexedParts, toParts, toTrigrams } from '../../../src/market/explore/trigrams.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';

test('if one letter of a query is wrong, the correct name still has all trigrams of at least one of the parts into which the query is split', () => {
  const random = new Random('typos');
  const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
  for (const name of ['harbour lights', 'azuki', 'bored ape yacht club', 'Pines of the North', 'lamps']) {
    const trigrams = new Set(toTrigrams(name));
    for (let place = 0; place < name.length; place += 1) {
      if (name[place] === ' ') continue;
      const typo = name.slice(0, place) + random.pick(letters) + name.slice(place + 1);
      assert.ok(
        toParts(typo).some((part) => part.every((trigram) => trigrams.has(trigram))),
        `${typo}: ${JSON.stringify(toParts(typo))}`,
      );
    }
  }
});

test('the similarity is 1 for the same words, and grows with the number of trigrams that both names have', () => {
  assert.equal(similarityOf('Harbour Lights', 'lights HARBOUR'), 1);
  assert.equal(similarityOf('harbour', 'xyz'), 0);
  assert.ok(similarityOf('harbor lights', 'harbour lights') > similarityOf('harbor lights', 'harbour foxes'));
});

forEachEngine('trigrams', (engine) => {
  test('the trigrams that the program computes equal the trigrams of the database function', async () => {
    const db = await engine.open();
    const texts = [
      'Harbour Lights #7',
      '',
      '  ',
      'ÄÖ ünï',
      'Cafe\u0301 É\u0302clair',
      'Ѐлка Ά',
      '日本猫クラブ が 고양이',
      '東京 ape',
      'a-b_c.d',
      'x',
      "o'neil [1]\\2^3`4{5}~",
      'tab\tline\nend',
    ];
    for (const text of texts) {
      const [row] = await db.query<{ found: string[] }>('select to_json(main.trigrams($1)) as found', [text]);
      assert.deepEqual(row?.found.toSorted(), toIndexedParts(text).toSorted(), text);
    }
  });
});
