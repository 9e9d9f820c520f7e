// Contracts and vendors choose images, also inline images of a hundred kilobytes. Lists and batches do not multiply them. In the explore
// interface a large inline image has a URL of its own.

import assert from 'node:assert/strict';
import net from 'node:net';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import type { AssetId } from '../../../src/platform/core/address.ts';
import { LISTED_IMAGE_LENGTH_MAX, UNREAD_INLINE_IMAGE } from '../../../src/platform/core/image-url.ts';
import { URL_MAX } from '../../../src/intake/records/fields.ts';
import { listCollectionsByIds } from '../../../src/market/reads/queries/collections.ts';
import { listObservedTokens, toTokenKeyText } from '../../../src/market/index/queries/tokens.ts';
import { memoryHeld } from '../../support/measure/cost.ts';
import { forOneMarket, newCollection, range } from '../../support/service/market.ts';

const MIB = 1024 * 1024;
const inline = (length: number, seed = '') => `data:image/png;base64,${seed}`.padEnd(length, 'A');
const LARGE = inline(URL_MAX - 100, 'large');
const SMALL = inline(LISTED_IMAGE_LENGTH_MAX, 'small');
const TOKENS = 100;
const CLIENTS = 60;

forOneMarket('large images', {}, (market) => {
  describe('a collection with a hundred large inline images', () => {
    const subject = newCollection();
    const owner = `0x${'7'.repeat(40)}`;
    const names = range(TOKENS).map((id) => ({ chain: subject.chain, address: subject.address, tokenId: String(id) }));
    const loaded = async () => {
      await market.load([
        subject.collection({ image: LARGE, banner: LARGE }),
        ...range(TOKENS).map((id) =>
          subject.token(String(id), {
            name: `Drawing ${id}`,
            owner,
            image: id === 0 ? SMALL : inline(URL_MAX, `${id}`),
          }),
        ),
      ]);
    };
    const post = (tokens: unknown) =>
      market.get('/explore/v1/tokens/batch', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ tokens }),
      });

    const urlOf = (name: string) => `${market.url}/explore/v1/images/${subject.id}/${name}`;

    test('no list has a large image, and every single resource of /v1 has it', async () => {
      await loaded();
      const { id } = subject;
      const lists = [
        '/v1/collections?limit=100',
        '/explore/v1/collections?limit=100',
        `/explore/v1/collections/${id}/tokens?limit=100`,
        `/explore/v1/wallets/${owner}/tokens?limit=100`,
        `/explore/v1/search?q=${subject.address}`,
        '/explore/v1/search?q=Drawing%205',
      ];
      for (const path of lists) {
        const { data } = await market.ok(path);
        const text = JSON.stringify(data);
        assert.ok(data.length > 0, path);
        assert.ok(!text.includes('AAAAAAAA') || text.includes('small'), path);
        assert.ok(text.length < 2 * TOKENS * LISTED_IMAGE_LENGTH_MAX, `${path}: ${text.length}`);
      }
      const { data } = await market.ok(`/v1/collections/${id}`);
      assert.deepEqual([data.image, data.banner], [LARGE, LARGE]);
      const listed = (await market.ok('/v1/collections?limit=100')).data.find((row: any) => row.id === id);
      assert.deepEqual([listed.image, listed.banner], [null, null]);
      const single = await market.ok(`/v1/tokens/${subject.chain}/${subject.address}/7`);
      assert.equal(single.data.image, inline(URL_MAX, '7'));
    });

    test('in the explore interface each row with a large inline image has the URL of the image, in lists and alone', async () => {
      await loaded();
      const { id, chain, address } = subject;
      const rows = async (path: string) => (await market.ok(`/explore/v1/${path}`)).data;
      const imagesOf = (found: any[]) => Object.fromEntries(found.map((row) => [row.tokenId, row.image]));
      const expected = Object.fromEntries(range(TOKENS).map((token) => [String(token), urlOf(String(token))]));
      for (const path of [`collections/${id}/tokens?limit=100`, `wallets/${owner}/tokens?limit=100`]) {
        assert.deepEqual(imagesOf(await rows(path)), expected, path);
      }
      assert.equal((await rows(`tokens/${chain}/${address}/7`)).image, urlOf('7'));
      assert.deepEqual(
        (await post([names[7]])).body.data.map(({ image }: any) => image),
        [urlOf('7')],
      );
      const [found] = await rows('search?q=Drawing%205');
      assert.equal(found.token.image, urlOf('5'));
      const ofCollection = [urlOf('image'), urlOf('banner')];
      const collections = [
        await rows(`collections/${id}`),
        (await rows(`collections?ids=${id}`))[0],
        (await rows(`search?q=${address}`))[0].collection,
        (await rows(`wallets/${owner}/collections`))[0],
      ];
      for (const { image, banner } of collections) assert.deepEqual([image, banner], ofCollection);
    });

    test('lists do not read large images from the database', async () => {
      await loaded();
      const keys = range(TOKENS).map((asset) => ({ collectionId: subject.id, asset: String(asset) as AssetId }));
      const imagesOf = async (largeImages: boolean) => {
        const observed = await listObservedTokens(market.indexer(), keys, { now: market.now(), largeImages });
        return keys.map((key) => observed.get(toTokenKeyText(key))?.image);
      };
      assert.deepEqual(await imagesOf(false), [SMALL, ...keys.slice(1).map(() => UNREAD_INLINE_IMAGE)]);
      assert.deepEqual(await imagesOf(true), [SMALL, ...keys.slice(1).map(({ asset }) => inline(URL_MAX, asset))]);
      const [listed] = await listCollectionsByIds(market.main(), [subject.id]);
      assert.deepEqual([listed?.image, listed?.banner], [UNREAD_INLINE_IMAGE, UNREAD_INLINE_IMAGE]);
    });

    test('a batch has one row for each entry, also for a token that it names a hundred times, and no large image', async () => {
      await loaded();
      const { body, text } = await post([...range(TOKENS - 1).map(() => names[7]), names[0]]);
      assert.equal(body.data.length, TOKENS);
      assert.deepEqual(
        body.data.map((row: any) => row.tokenId),
        [...range(TOKENS - 1).map(() => '7'), '0'],
      );
      assert.deepEqual([body.data[0].image, body.data.at(-1).image], [urlOf('7'), urlOf('0')]);
      assert.ok(text.length < MIB, String(text.length));
    });

    test('sixty clients that request a hundred such tokens and read nothing hold at most 64 MiB', async (t) => {
      await loaded();
      await post(names);
      const body = JSON.stringify({ tokens: names });
      const head = `POST /explore/v1/tokens/batch HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
      const before = memoryHeld();
      const sockets = range(CLIENTS).map(() => net.connect(Number(new URL(market.url).port), '127.0.0.1').pause());
      t.after(() => sockets.forEach((socket) => socket.destroy()));
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      for (const socket of sockets) socket.write(head + body);
      // A response has begun when its first byte can be read.
      await Promise.all(sockets.map((socket) => once(socket, 'readable')));
      const held = memoryHeld() - before;
      assert.ok(held < 64 * MIB, `${(held / MIB).toFixed(1)} MiB`);
      t.diagnostic(`${(held / MIB).toFixed(1)} MiB`);
    });
  });
});
