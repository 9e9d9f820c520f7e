// Texts with a special meaning for a database, a browser, a shell or a terminal are ordinary text here. A
// collection with such a text in its slug and its name is found. An unknown text is a 404. No text causes an internal error.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pg from 'pg';
import { forOneMarket, newCollection } from '../support/service/market.ts';
import type { TestMarket } from '../support/service/market.ts';
import { assertErrorEnvelope } from '../support/http/error-envelope.ts';
import { request } from '../support/http/raw-http.ts';

const TEXTS = [
  `'`,
  `''`,
  `"`,
  `' or ''='`,
  `'; drop table main.collection; --`,
  `x' union select secret from main.secret --`,
  `$1`,
  `%`,
  `_`,
  `a%b`,
  `\\`,
  `\\'`,
  `E'\\x41'`,
  `{}`,
  `{"$gt":""}`,
  `<script>alert(1)`,
  `<img src=x onerror=alert(1)>`,
  `&lt;b&gt;`,
  `javascript:alert(1)`,
  `{{7*7}}\${7*7}<%= 7*7 %>`,
  `() { :; }; echo x`,
  `$(id)`,
  '`id`',
  `| cat`,
  `..`,
  `C:\\Windows`,
  `🐙`,
  `👩‍👩‍👧‍👦`,
  `\u{10ffff}`,
  `\u202eevil`,
  `مرحبا`,
  `é`,
  `e\u0301`,
  `ﬁ`,
  `İ`,
  `ß`,
  `\u200b`,
  `a\ufeffb`,
  `\u00a0`,
  `\ufffd`,
  `null`,
  `__proto__`,
  `constructor`,
  `1e309`,
  `0x${'1'.repeat(39)}g`,
  `%00`,
  `%2e%2e%2f`,
  `a+b`,
  `a b`,
  `a?b#c&d=e`,
  `a;b`,
  `a:b@c`,
];
/** Texts that a request may contain, but that no collection may have as its name. */
const NAMELESS = [
  '\0',
  'a\0b',
  '\r\n',
  '\x1b[31m',
  '\x7f',
  'a/b',
  '../../etc/passwd',
  'x'.repeat(501),
  '🐙'.repeat(1_200),
];
const RESTS = ['', '/floor', '/listings', '/sales'];

let databaseUrl: string | undefined;
const prepare = (settings: Record<string, string>) => {
  databaseUrl = settings['DATABASE_URL'];
  return Promise.resolve();
};

forOneMarket('texts', { prepare }, (market) => {
  test('an id that names no collection is a 404, whatever its text', async () => {
    for (const text of [...TEXTS, ...NAMELESS]) {
      for (const rest of RESTS) {
        const target = `/v1/collections/${encodeURIComponent(`no ${text}`)}${rest}`;
        assertErrorEnvelope(await request(market.url, target), 404, target);
      }
    }
    assertNothingLogged(market);
  });

  test('a collection with any text in its slug and its name is found by its exact slug only', async () => {
    const collections = TEXTS.map((text) =>
      newCollection({ slug: `it ${text}`, name: text, description: `${text}\n${text}` }),
    );
    await market.load(collections.map((collection) => collection.collection()));
    for (const [index, collection] of collections.entries()) {
      const { data } = await market.ok(collection.path);
      assert.equal(data.id, collection.id);
      assert.equal(data.slug, collection.slug);
      assert.equal(data.name, TEXTS[index]);
      assert.equal(data.description, `${TEXTS[index]}\n${TEXTS[index]}`);
    }
    const slugs = new Set(collections.map(({ slug }) => slug));
    for (const { slug } of collections) {
      for (const other of [
        slug.toUpperCase(),
        slug.normalize('NFD'),
        slug.normalize('NFKC'),
        `${slug} `,
        ` ${slug}`,
        slug.trim().slice(1),
      ]) {
        if (slugs.has(other)) continue;
        assertErrorEnvelope(await request(market.url, `/v1/collections/${encodeURIComponent(other)}`), 404, other);
      }
    }
    const all = await market.walk('/v1/collections?limit=7&sort=recent');
    assert.equal(new Set(all.map(({ id }) => id)).size, all.length, 'two pages have the same collection');
    assertNothingLogged(market);
  });

  test('a browser does not interpret a response that contains markup as HTML', async () => {
    const { headers } = await market.get(`/v1/collections/${encodeURIComponent('it <script>alert(1)')}`);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  });

  test('an address or a token id that is not valid on its chain is a 400', async () => {
    const evm = `0x${'a'.repeat(40)}`;
    const mint = 'A'.repeat(44);
    const max = (2n ** 256n - 1n).toString();
    const badIds = [
      '-1',
      '+1',
      '01',
      '00',
      '1.0',
      '1e3',
      '0x1',
      ' 1',
      '1 ',
      '1\n',
      '１',
      '١',
      '²',
      String(2n ** 256n),
      '9'.repeat(9_000),
    ];
    const badAddresses = [
      evm.slice(2),
      `${evm}a`,
      evm.slice(0, -1),
      ` ${evm}`,
      `${evm}\n`,
      mint,
      evm.replace('a', 'а'),
    ];
    const badMints = [`${mint}A`, 'A'.repeat(31), `0${mint.slice(1)}`, `O${mint.slice(1)}`, `${mint} `, evm, '1'];
    const send = (...parts: string[]) => request(market.url, `/v1/tokens/${parts.map(encodeURIComponent).join('/')}`);
    for (const id of [...badIds, ...TEXTS, ...NAMELESS]) assertErrorEnvelope(await send('ethereum', evm, id), 400, id);
    for (const address of [...badAddresses, ...TEXTS, ...NAMELESS])
      assertErrorEnvelope(await send('base', address, '1'), 400, address);
    for (const one of [...badMints, ...TEXTS, ...NAMELESS]) {
      assertErrorEnvelope(await send('solana', mint, one), 400, one);
      assertErrorEnvelope(await send('solana', one, mint), 400, one);
    }
    for (const id of ['0', '1', max])
      assertErrorEnvelope(await send('ethereum', evm.toUpperCase().replace('0X', '0x'), id), 404, id);
    assertErrorEnvelope(await send('solana', mint, mint), 404, mint);
    assertNothingLogged(market);
  });

  describe('cached responses', () => {
    test('requests share a cached response unless their path or a known parameter differs', async (t) => {
      if (databaseUrl === undefined) return t.skip('the embedded database admits no second process');
      const collection = newCollection();
      await market.load([
        collection.collection({ name: 'before' }),
        collection.order('1', 1),
        collection.order('2', 2),
      ]);
      const plain = await market.ok(`${collection.path}/listings?limit=1`);
      const before = await market.ok(collection.path);
      await changeBehind(`delete from main.book_order where collection_id = '${collection.id}'`);
      await changeBehind(`update main.collection set name = 'after' where id = '${collection.id}'`);
      const spelt = collection.path.replace('collection-', '%63ollection%2d');
      const ends = ['', '?', '?x=1', '?limit=5', '?__proto__=1&x', '/', '/?y=2'];
      for (const target of ends.flatMap((end) => [
        `${collection.path}${end}`,
        `${spelt}${end}`,
        `http://a${collection.path}${end}`,
      ])) {
        assert.equal((await request(market.url, target)).body, JSON.stringify(before), target);
      }
      const queries = ['limit=1', 'limit=%31', 'x=1&limit=1', 'limit=1&chain=base&sort=none', '%6Cimit=1&cb=7'];
      for (const query of queries) {
        const response = await request(market.url, `${collection.path}/listings/?${query}`);
        assert.equal(response.body, JSON.stringify(plain), query);
      }
      market.advance(2_000);
      assert.equal((await market.ok(collection.path)).data.name, 'after');
      assert.equal((await market.ok(`${collection.path}/listings?limit=1`)).data.length, 0);
    });
  });
});

/** Fails if the service logged a warning or an error. A text that makes a query fail would be logged. */
function assertNothingLogged(market: TestMarket): void {
  const lines = market.logged.filter((line) => /"level":"(warn|error)"/.test(line));
  assert.deepEqual(lines, []);
}

/** Changes the database without the service. Cached responses are not invalidated. */
async function changeBehind(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(sql);
  await client.end();
}
