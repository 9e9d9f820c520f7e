// GET /explore/v1/collections/{id}/holders.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEvmAddress } from '../../../sample/random.ts';
import type { TestCollection } from '../../support/service/market.ts';
import { forOneMarket, newCollection, range } from '../../support/service/market.ts';

const VAULT = toEvmAddress('vault');
const pathOf = (subject: TestCollection) => `/explore/v1/collections/${subject.slug}/holders`;
const UNKNOWN = { holders: null, tokens: null, distribution: [], largest: [] };

forOneMarket('holders', { settings: { CUSTODY_WALLETS: `${VAULT}=The vault` } }, (market) => {
  const read = async (subject: TestCollection) => (await market.ok(pathOf(subject))).data;

  /** Makes token records. `counts` has the number of tokens of each holder. */
  const holdings = (subject: TestCollection, counts: Record<string, number>) =>
    Object.entries(counts)
      .flatMap(([owner, count]) => range(count).map(() => owner))
      .map((owner, index) => subject.token(String(index + 1), { owner }));

  test('each holder is counted in one range of token counts, and the holders with the most tokens come first', async () => {
    const subject = newCollection();
    const holderOf = (name: string) => toEvmAddress('holder', name);
    await market.load([
      subject.collection({ tokensComplete: true }),
      ...holdings(subject, {
        [holderOf('a')]: 1,
        [holderOf('b')]: 3,
        [holderOf('c')]: 4,
        [holderOf('d')]: 1,
        [VAULT]: 30,
      }),
    ]);
    const data = await read(subject);
    assert.deepEqual([data.holders, data.tokens], [5, 39]);
    assert.deepEqual(
      data.distribution.map(({ from, to, holders }: any) => [from, to, holders]),
      [
        [1, 1, 2],
        [2, 3, 1],
        [4, 10, 1],
        [11, 25, 0],
        [26, 100, 1],
        [101, null, 0],
      ],
    );
    assert.deepEqual(data.largest.slice(0, 3), [
      { address: null, kind: 'custody', label: 'The vault', tokens: 30 },
      { address: holderOf('c'), kind: 'wallet', label: null, tokens: 4 },
      { address: holderOf('b'), kind: 'wallet', label: null, tokens: 3 },
    ]);
    assert.equal(data.largest.length, 5);
  });

  test('the holders are unknown while the collection may have tokens that are not stored', async () => {
    const subject = newCollection();
    const tokens = holdings(subject, { [toEvmAddress('one')]: 2 });
    await market.load([subject.collection(), ...tokens]);
    assert.deepEqual(await read(subject), UNKNOWN);
    await market.load([subject.collection({ tokensComplete: true })]);
    assert.equal((await read(subject)).holders, 1);
  });

  test('the list of the largest holders has at most 100 rows', async () => {
    const subject = newCollection();
    const counts = Object.fromEntries(range(103).map((index) => [toEvmAddress('many', String(index)), 1]));
    await market.load([subject.collection({ tokensComplete: true }), ...holdings(subject, counts)]);
    const { holders, largest } = await read(subject);
    assert.deepEqual([holders, largest.length], [103, 100]);
  });

  test('a request for a collection that does not exist gets a 404', async () => {
    assert.equal((await market.get('/explore/v1/collections/nowhere/holders')).status, 404);
  });
});
