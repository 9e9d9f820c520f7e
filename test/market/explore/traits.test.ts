// Tests GET /explore/v1/collections/{id}/traits, and the filter by traits of GET /explore/v1/collections/{id}/tokens.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChains } from '../../../src/platform/core/chains.ts';
import { copyCatalog } from '../../../src/market/index/catalog.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { Random } from '../../../sample/random.ts';
import type { TestCollection, TraitValues } from '../../support/service/market.ts';
import { BUYER, HOUR_MS, SELLER, forOneMarket, newCollection, range } from '../../support/service/market.ts';

const COMPLETE = { tokensComplete: true };
const tokensOf = (subject: TestCollection, query = '') => `/explore/v1/collections/${subject.slug}/tokens${query}`;
const traitsOf = (subject: TestCollection, query = '') => `/explore/v1/collections/${subject.slug}/traits${query}`;

type Rows = Record<string, [value: string, count: number | null, listed: number | null, floor: string | null][]>;

forOneMarket('traits', {}, (market) => {
  const readTraits = async (subject: TestCollection, query = ''): Promise<Rows> => {
    const { data } = await market.ok(traitsOf(subject, query));
    return Object.fromEntries(
      data.map(({ name, values }: any) => [
        name,
        values.map(({ value, count, listed, floor }: any) => [value, count, listed, floor?.raw ?? null]),
      ]),
    );
  };
  const idsOf = async (subject: TestCollection, query: string) =>
    (await market.walk(tokensOf(subject, `?limit=2&${query}`))).map((row) => row.tokenId).join(' ');

  /** Five tokens with hats and eyes. Tokens 1, 2 and 4 are listed in the mirror, and token 3 in the own order book. */
  const loadHats = async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(COMPLETE),
      ...['1', '2', '3', '4', '5'].map((id) => subject.token(id, { rarityRank: 6 - Number(id), owner: BUYER })),
      subject.listing('1', 50),
      subject.listing('1', 40, { source: 'blur' }),
      subject.listing('2', 30),
      subject.listing('4', 20),
      subject.order('3', 35),
      subject.listing('3', 1),
    ]);
    await market.describe(subject, {
      1: { Hat: 'Cap', Eyes: 'Blue' },
      2: { Hat: 'Cap', Eyes: 'Red' },
      3: { Hat: 'Cap', Eyes: 'Blue' },
      4: { Hat: 'Crown', Eyes: 'Blue' },
      5: { Hat: ['Cap', 'Crown'] },
    });
    return subject;
  };

  test('each value has its number of tokens, its number of listed tokens, and its floor over the order book and the mirror', async () => {
    const subject = await loadHats();
    assert.deepEqual(await readTraits(subject), {
      Eyes: [
        ['Blue', 3, 3, '20'],
        ['Red', 1, 1, '30'],
      ],
      Hat: [
        ['Cap', 4, 3, '30'],
        ['Crown', 2, 1, '20'],
      ],
    });
  });

  test('a token matches a filter if it has one of the values of each name, in every sort and together with other filters', async () => {
    const subject = await loadHats();
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap'), '2 3 1 5');
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap&listed=true'), '2 3 1');
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap&listed=false'), '5');
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap&traits[Hat]=Crown'), '4 2 3 1 5');
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap&traits[Eyes]=Blue'), '3 1');
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap&traits[Hat]=Crown&traits[Eyes]=Blue'), '4 3 1');
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap&sort=rank'), '5 3 2 1');
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap&sort=rank&listed=true'), '3 2 1');
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap&sort=id'), '1 2 3 5');
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap&sort=id&listed=false'), '5');
    assert.equal(await idsOf(subject, `traits[Hat]=Cap&owner=${BUYER}`), '5');
    assert.equal(await idsOf(subject, `traits[Hat]=Cap&owner=${SELLER}`), '2 3 1');
  });

  test('the form Name:Value has the same tokens, also beside the other form', async () => {
    const subject = await loadHats();
    assert.equal(await idsOf(subject, 'trait=Hat:Cap'), '2 3 1 5');
    assert.equal(await idsOf(subject, 'trait=Hat:Cap&trait=Hat:Crown'), '4 2 3 1 5');
    assert.equal(await idsOf(subject, 'trait=Hat:Cap&trait=Hat:Crown&trait=Eyes:Blue'), '4 3 1');
    assert.equal(await idsOf(subject, 'trait=Hat:Crown&traits[Hat]=Cap&trait=Eyes%3ABlue'), '4 3 1');
    const rejected: [query: string, message: string][] = [
      ['trait=hat:Cap', 'The collection has no trait "hat": its traits are "Eyes", "Hat"'],
      ['trait=Hat:a:b', 'The trait "Hat" has no value "a:b": see the traits of the collection'],
      ['trait=Hat', 'Query parameter trait must be text of the form Wind:Gale'],
      ['trait=:Cap', 'Query parameter trait must be text of the form Wind:Gale'],
      ['trait=', 'Query parameter trait is empty'],
      [
        Array.from({ length: 51 }, (_, index) => `trait=Hat:${index}`).join('&'),
        'Query parameter trait has more than 50 values',
      ],
      [
        Array.from({ length: 11 }, (_, index) => `trait=Hat ${index}:Cap`).join('&'),
        'Query parameter trait has more than 10 names',
      ],
    ];
    for (const [query, message] of rejected) {
      const { status, body } = await market.get(tokensOf(subject, `?${query}`));
      assert.deepEqual([status, body.error.message, body.error.param], [400, message, 'trait'], query);
    }
  });

  test('a trait that the collection does not have is rejected, and the message names what there is', async () => {
    const subject = await loadHats();
    const messages = {
      'traits[hat]=Cap': 'The collection has no trait "hat": its traits are "Eyes", "Hat"',
      'traits[Hat]=Bowler': 'The trait "Hat" has no value "Bowler": see the traits of the collection',
      'traits[Hat]=Cap&traits[Eyes]=Green': 'The trait "Eyes" has no value "Green": see the traits of the collection',
      'traits[Hat]=Cap&traits[Hat]=Bowler': 'The trait "Hat" has no value "Bowler": see the traits of the collection',
      'traits[Hat]=%00': 'The trait "Hat" has no value "\u0000": see the traits of the collection',
      'traits[%00]=Cap': 'The collection has no trait "\u0000": its traits are "Eyes", "Hat"',
    };
    for (const [query, message] of Object.entries(messages)) {
      const { status, body } = await market.get(tokensOf(subject, `?${query}`));
      assert.deepEqual([status, body.error.code, body.error.message], [400, 'bad_request', message], query);
    }
    const untold = newCollection();
    await market.load([untold.collection(), untold.token('1')]);
    const { status, body } = await market.get(tokensOf(untold, '?traits[Hat]=Cap'));
    const message = 'No trait of the collection is known, so there is no trait "Hat"';
    assert.deepEqual([status, body.error.message], [400, message]);
  });

  test('a figure of a trait value is null while a missing token, or a token with unknown traits, could change the figure', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.token('1'), subject.token('2'), subject.listing('1', 5)]);
    await market.describe(subject, { 1: { Hat: 'Cap' }, 2: { Hat: 'Cap' } });
    assert.deepEqual(
      await readTraits(subject),
      { Hat: [['Cap', null, 1, '5']] },
      'a number of tokens was served although tokens may be missing',
    );
    await market.load([subject.collection(COMPLETE)]);
    assert.deepEqual(await readTraits(subject), { Hat: [['Cap', 2, 1, '5']] });
    await market.load([subject.token('3')]);
    assert.deepEqual(
      await readTraits(subject),
      { Hat: [['Cap', null, 1, '5']] },
      'a number of tokens was served although the traits of token 3 are unknown',
    );
    await market.load([subject.listing('3', 1)]);
    assert.deepEqual(
      await readTraits(subject),
      { Hat: [['Cap', null, null, null]] },
      'a figure was served although token 3 is listed and its traits are unknown',
    );
    await market.describe(subject, { 3: {} });
    assert.deepEqual(
      await readTraits(subject, '?limit=9'),
      { Hat: [['Cap', 2, 1, '5']] },
      'a figure was not served although it is known that token 3 has no traits',
    );
  });

  test('traits are paged by name', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.token('1')]);
    await market.describe(subject, { 1: { Hat: 'Cap', Eyes: 'Blue', Ä: 'x', Fur: 'None' } });
    const names = (await market.walk(traitsOf(subject, '?limit=1'))).map(({ name }) => name);
    assert.deepEqual(names, ['Eyes', 'Fur', 'Hat', 'Ä']);
    const page = await market.ok(traitsOf(subject, '?limit=3'));
    const other = await loadHats();
    assert.equal((await market.get(traitsOf(other, `?cursor=${page.pagination.nextCursor}`))).status, 400);
  });

  test('a trait with more than 250 values lists the 250 values with the most tokens', async () => {
    const subject = newCollection();
    const ids = range(252).map(String);
    await market.load([subject.collection(), ...ids.map((id) => subject.token(id))]);
    await market.describe(subject, Object.fromEntries(ids.map((id) => [id, { Number: id === '9' ? '8' : id }])));
    const [trait] = (await market.ok(traitsOf(subject))).data;
    assert.deepEqual([trait.values.length, trait.values[0].value, trait.hasMoreValues], [250, '8', true]);
  });

  test('figures and lists change when a listing expires, and the sweep after the expiry does not change them', async () => {
    const subject = newCollection();
    const expiresAt = new Date(market.now() + HOUR_MS).toISOString();
    await market.load([
      subject.collection(COMPLETE),
      ...range(5).map((index) => subject.token(String(index))),
      subject.listing('0', 10, { expiresAt }),
      subject.listing('0', 25, { source: 'blur' }),
      subject.listing('1', 20),
      subject.order('2', 5, { expiresAt }),
      subject.order('2', 30, { createdAt: market.ago(HOUR_MS) }),
      subject.listing('3', 1, { expiresAt }),
      subject.order('4', 2, { expiresAt }),
      subject.listing('4', 22),
    ]);
    const ids = range(5).map(String);
    await market.describe(subject, Object.fromEntries(ids.map((id) => [id, { Hat: 'Cap', Id: id }])));
    assert.equal(await idsOf(subject, 'traits[Hat]=Cap&listed=true'), '3 4 2 0 1');
    assert.deepEqual((await readTraits(subject))['Hat'], [['Cap', 5, 5, '1']]);
    market.advance(HOUR_MS);
    for (const state of ['before', 'after']) {
      assert.equal(await idsOf(subject, 'traits[Hat]=Cap&listed=true'), '1 4 0 2', state);
      assert.equal(await idsOf(subject, 'traits[Hat]=Cap'), '1 4 0 2 3', state);
      const { Hat, Id } = await readTraits(subject, state === 'before' ? '' : '?limit=9');
      assert.deepEqual(Hat, [['Cap', 5, 4, '20']], state);
      assert.deepEqual(
        Id?.map(([value, , listed, floor]) => `${value} ${listed} ${floor}`).sort(),
        ['0 1 25', '1 1 20', '2 1 30', '3 0 null', '4 1 22'],
        state,
      );
      await sweep();
    }
  });

  test('a filtered list has the tokens of the unfiltered list that have the traits, in the same order', async () => {
    const random = new Random('filters');
    const subject = newCollection();
    const ids = range(40).map(String);
    const expiry = () =>
      random.boolean(0.3) && { expiresAt: new Date(market.now() + random.integer(1, HOUR_MS)).toISOString() };
    // All prices are different, because listings with equal prices may be in a different order in the two lists.
    const prices = random.shuffle(range(200).map((price) => price + 1));
    const offer = (make: typeof subject.order) => ids.map((id) => make(id, prices.pop() ?? 0, { ...expiry() }));
    await market.load([
      subject.collection(),
      ...ids.map((id) =>
        subject.token(id, {
          owner: random.pick([BUYER, SELLER]),
          ...(random.boolean(0.6) && { rarityRank: 1 + (Number(id) % 7) }),
        }),
      ),
      ...offer(subject.listing).filter(() => random.boolean(0.5)),
      ...offer((id, price, more) => subject.listing(id, price, { ...more, source: 'blur' })).filter(() =>
        random.boolean(0.3),
      ),
      ...offer(subject.order).filter(() => random.boolean(0.3)),
    ]);
    const values = (): TraitValues =>
      Object.fromEntries(
        ['Hat', 'Eyes', 'Coat'].map((name) => [name, random.shuffle(['A', 'B', 'C']).slice(0, random.integer(1, 2))]),
      );
    await market.describe(subject, Object.fromEntries(ids.map((id) => [id, values()])));
    for (const round of range(12)) {
      if (round === 6) market.advance(HOUR_MS / 2);
      const wanted = Map.groupBy(
        range(random.integer(1, 4)).map(
          () => [random.pick(['Hat', 'Eyes', 'Coat']), random.pick(['A', 'B', 'C'])] as const,
        ),
        ([name]) => name,
      );
      const others = [
        `sort=${random.pick(['price', 'rank', 'id'])}`,
        ...(random.boolean(0.5) ? [`listed=${random.boolean(0.5)}`] : []),
        ...(random.boolean(0.3) ? [`owner=${BUYER}`] : []),
      ].join('&');
      const all = await market.walk(tokensOf(subject, `?limit=100&${others}`));
      const expected = all.filter((token) =>
        [...wanted].every(([name, pairs]) =>
          token.traits.some((trait: any) => trait.name === name && pairs.some(([, value]) => value === trait.value)),
        ),
      );
      const filter = [...wanted]
        .flatMap(([, pairs]) => pairs.map(([name, value]) => `traits[${name}]=${value}`))
        .join('&');
      const found = await market.walk(tokensOf(subject, `?limit=3&${others}&${filter}`));
      assert.deepEqual(found, expected, `${others} ${filter}`);
    }
  });

  test('a filter that is not well formed is rejected', async () => {
    const subject = await loadHats();
    const many = range(11)
      .map((index) => `traits[T${index}]=x`)
      .join('&');
    const values = range(51)
      .map((index) => `traits[T]=${index}`)
      .join('&');
    for (const query of [
      'traits=Cap',
      'traits[]=Cap',
      'traits[Hat]=',
      'traits[Hat',
      'traits[Hat]=%ff',
      'traits[Hat]Cap=1',
      many,
      values,
    ]) {
      assert.equal((await market.get(tokensOf(subject, `?${query}`))).status, 400, query);
    }
    assert.equal((await market.get(tokensOf(subject, '?trait[Hat]=Cap'))).status, 400);
    assert.equal((await market.get(tokensOf(subject, '?traits[Hat]=Cap&traits[Hat]=Cap'))).status, 200);
  });

  test('a cursor is valid only with the filter that it was made with, in any order and encoding of the parameters', async () => {
    const subject = await loadHats();
    const { nextCursor } = (await market.ok(tokensOf(subject, '?limit=1&traits[Hat]=Cap&traits[Hat]=Crown')))
      .pagination;
    const statusOf = async (query: string) =>
      (await market.get(tokensOf(subject, `?${query}&cursor=${nextCursor}`))).status;
    assert.equal(await statusOf('limit=1&traits[Hat]=Crown&traits[Hat]=Cap'), 200);
    assert.equal(await statusOf('limit=1&traits%5BHat%5D=Crown&traits[Hat]=Cap'), 200);
    assert.equal(await statusOf('limit=1&traits[Hat]=Cap'), 400);
    assert.equal(await statusOf('limit=1'), 400);
  });

  const sweep = () =>
    sweepExpired({ main: market.main(), indexer: market.indexer(), chains: createChains(), clock: market.now }).then(
      () =>
        copyCatalog(
          { main: market.main(), indexer: market.indexer(), chains: createChains(), clock: market.now },
          { timeoutMs: 30_000, batchesMax: 10 },
        ),
    );
});
