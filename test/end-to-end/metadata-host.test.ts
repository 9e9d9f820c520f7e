// A collection on a local chain has its metadata on one host. The host is first dead, then slow. Then it sends wrong documents, too large
// documents, and redirects into the operator's network. At last it works. A real service follows the chain, and the operator uses the
// command line.

import assert from 'node:assert/strict';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { Address } from 'viem';
import { readContract } from '../../devnet/artifacts.ts';
import { callOf, deploy, mine, readHeight, startChain, transact } from '../../devnet/chain.ts';
import { createMovableClock } from '../../devnet/devnet.ts';
import type { Contract } from '../../devnet/protocol.ts';
import { defineCollections } from '../../src/cli/collections.ts';
import { defineStatus } from '../../src/cli/status.ts';
import { runCommand } from '../cli/run-command.ts';
import { startMetadataHost } from '../support/chain/metadata-host.ts';
import { createOneEngine } from '../support/engines/one-engine.ts';
import { startTestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';
import { followCollection, runTask } from './synced-collection.ts';

const COMMANDS = { collections: defineCollections, status: defineStatus };
const LIMIT_MS = 180_000;
const HOUR_MS = 3_600_000;
/** Longer than the wait before tokens are ranked again. */
const RERANK_MS = 11 * 60_000;
/** Longer than the longest wait before a failed read is repeated. */
const RETRY_MS = 9 * 24 * HOUR_MS;

const TOKENS = 24;
const TOKENS_LATER = 30;
const ROYALTY_BPS = 450;
/**
 * The requests that the service may send to the host in an hour. At most a tenth of them (BURST) may be sent at once. BURST requests are
 * enough for the first TOKENS tokens, but not for all tokens.
 */
const BUDGET = 400;
const BURST = BUDGET / 10;
const FOLDER = '/ipfs/Lamps';
const PRICE = 10_000n;
/**
 * The service reads at most 1 MiB of a document. The host can send up to 36 MiB more, because the two sockets of a connection buffer this
 * much on Linux. If the host has sent SENT_MAX, the service has read too much.
 */
const SENT_MAX = 48 * 2 ** 20;
const DOCUMENT_BYTES_MAX = 2 ** 20;

const pathOf = (id: number | string) => `${FOLDER}/${id}`;
const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const SHADES = ['Linen', 'Paper', 'Glass'];
const shadeOf = (id: number) => (id === 1 ? 'Gold' : (SHADES[id % SHADES.length] ?? ''));
const documentOf = (id: number) => ({
  name: `Lamp ${id}`,
  image: `https://pictures.example/${id}.png`,
  attributes: [{ trait_type: 'Shade', value: shadeOf(id) }],
});
const COLLECTION = { name: 'Lamps of the host', image: 'https://pictures.example/lamps.png' };

test('a collection gets its names, pictures, traits, royalty and ranks, although the host of its metadata fails in many ways', async (t) => {
  const { clock, skip } = createMovableClock();
  const chain = await startChain({ id: 'ethereum', chainId: 1, accounts: 2, clock });
  t.after(() => chain.stop());
  const owner = chain.accounts[1]?.address.toLowerCase() as Address;
  const host = await startMetadataHost(t);
  const inner = await startForbiddenListener(t);
  const artifact = readContract('DevnetCollection');
  const base = 'ipfs://Lamps/';
  const contract: Contract = {
    address: await deploy(chain, artifact, ['Lamps', 'LAMP', base, owner, ROYALTY_BPS]),
    abi: artifact.abi,
  };
  await transact(chain, [callOf(owner, contract, 'mintBatch', [owner, 1n, BigInt(TOKENS)])]);

  const engine = await createOneEngine();
  const service = await startTestService({
    settings: {
      ...engine.settings,
      RPC_URL_ETHEREUM: chain.url,
      CHAIN_POLL_MS: '200',
      IPFS_GATEWAYS: `${host.url}/ipfs`,
      METADATA_HOST_BUDGET: String(BUDGET),
    },
    clock,
    logLevel: 'warn',
  });
  t.after(service.close);
  t.after(engine.close);
  const mercat = async (name: keyof typeof COMMANDS, ...args: string[]) => {
    const result = await runCommand(COMMANDS[name], [name, ...args], { env: { ...engine.settings } });
    assert.equal(result.code, 0, result.stderr);
    return result.stdout;
  };
  const id = `ethereum_${contract.address}`;
  const readTokens = (): Promise<any[]> => service.walk(`/explore/v1/collections/${id}/tokens?sort=id&limit=100`);
  const failures = async (): Promise<{ reason: string; host: string; tokens: number }[]> => {
    const { body } = await service.operate('metadata.read', {});
    return body.result?.[0].failures ?? [];
  };
  const settle = async () => {
    const height = await readHeight(chain);
    const isRead = async () => (await service.operate('status', {})).body.result.chains[0]?.block === height;
    await until(isRead, LIMIT_MS, `block ${height} was not read`);
  };
  /** Reads the metadata until `failed` tokens have failed. Returns what `mercat status` prints. */
  const read = async (failed: number) => {
    const haveFailed = async () => {
      await runTask(service, 'metadata');
      return (await failures()).reduce((sum, { tokens }) => sum + tokens, 0) === failed;
    };
    await until(haveFailed, LIMIT_MS, `the number of failed tokens is not ${failed}`);
    return mercat('status');
  };
  /** The contract announces that the metadata of all its tokens changed, so that all of them are read again. */
  const announce = async () => {
    skip(RETRY_MS);
    await transact(chain, [callOf(owner, contract, 'setBaseURI', [base])]);
    await settle();
    skip(HOUR_MS);
  };
  const publish = (count: number) => {
    for (const tokenId of ids(count)) host.documents.set(pathOf(tokenId), documentOf(tokenId));
  };
  /**
   * Fails unless every token has either the metadata that the host has stated for the token, or no metadata. Returns how many tokens have a
   * name.
   */
  const check = async (stated: (tokenId: number) => ReturnType<typeof documentOf> = documentOf) => {
    const tokens = await readTokens();
    for (const token of tokens) {
      if (token.name === null) {
        assert.deepEqual([token.image, token.traits], [null, []]);
        continue;
      }
      const { name, image, attributes } = stated(Number(token.tokenId));
      const traits = attributes.map(({ trait_type, value }) => ({ name: trait_type, value }));
      assert.deepEqual([token.name, token.image, token.traits], [name, image, traits]);
    }
    return tokens.filter(({ name }) => name !== null).length;
  };

  await t.test(
    'collections add --dry-run names the host and the number of tokens, and sends no request to the host',
    async () => {
      const printed = await mercat(
        'collections',
        'add',
        'ethereum',
        contract.address,
        '--from-block',
        '0',
        '--dry-run',
      );
      assert.match(printed, /its metadata: .* tokens from ipfs/);
      assert.deepEqual(host.requests, []);
    },
  );

  await t.test(
    'while the host is dead, the collection has its tokens, owners and supply, and the status says what is missing',
    async () => {
      host.set('dead');
      await followCollection(service, {
        sources: [],
        input: { chain: 'ethereum', address: contract.address, fromBlock: 0 },
      });
      const status = await read(TOKENS);
      assert.match(status, /unreachable \(ipfs\)/);
      assert.match(status, /host-down \(ipfs\)/);
      assert.match(status, /the collection: unreachable \(ipfs\)/);
      assert.ok(host.requests.length < TOKENS, `${host.requests.length} requests to a dead host`);
      const isComplete = async () => {
        const { data } = await service.ok(`/v1/collections/${id}`);
        return data.stats.supply === TOKENS && data.royaltyBps === ROYALTY_BPS;
      };
      await until(isComplete, LIMIT_MS, 'supply and royalty are not served');
      const tokens = await readTokens();
      assert.equal(tokens.length, TOKENS);
      assert.ok(tokens.every((token) => token.owner.address === owner && token.name === null && token.image === null));
    },
  );

  await t.test(
    'the documents of a slow host are read, and a document that never arrives is reported as a timeout',
    async () => {
      publish(TOKENS);
      host.documents.set(pathOf('collection'), COLLECTION);
      host.set('slow');
      host.modes.set(pathOf(7), 'hanging');
      skip(RETRY_MS);
      const status = await read(1);
      assert.match(status, /1 timeout \(ipfs\)/);
      assert.equal(await check(), TOKENS - 1);
      host.modes.clear();
    },
  );

  await t.test(
    'a wrong document is stored only if it is a valid document of another token, and the right document later replaces it',
    async () => {
      host.set('well');
      const ofAnother = { ...documentOf(1), tokenId: 1, token_id: '1', id: 1, edition: 1, contract: contract.address };
      const others = new Set<number>();
      const lies: ((tokenId: number) => object | Buffer)[] = [
        () => Buffer.from('<html><body>Not found</body></html>'),
        () => Buffer.from('{"name": "Half'),
        () => ({ name: ['Wrong'], image: { url: 'x' }, description: [7], attributes: 'none' }),
        () => ({ error: 'Too many requests' }),
        (tokenId) => {
          others.add(tokenId);
          return ofAnother;
        },
      ];
      for (const tokenId of ids(TOKENS)) {
        const lie = lies[tokenId % lies.length];
        assert.ok(lie);
        host.documents.set(pathOf(tokenId), lie(tokenId));
      }
      host.documents.set(pathOf('collection'), { error: 'Too many requests' });
      await announce();
      const status = await read(TOKENS - others.size);
      assert.match(status, /not-json \(ipfs\)/);
      assert.match(status, /no-fields \(ipfs\)/);
      assert.match(status, /the collection: no-fields \(ipfs\)/);
      await check((tokenId) => documentOf(others.has(tokenId) ? 1 : tokenId));
      publish(TOKENS);
      await announce();
      await read(0);
      assert.equal(await check(), TOKENS);
    },
  );

  await t.test('of a document that is too large, the service reads no more than the allowed size', async () => {
    const large = Buffer.from(
      JSON.stringify({ ...documentOf(1), name: 'Large', rest: 'x'.repeat(DOCUMENT_BYTES_MAX) }),
    );
    for (const tokenId of ids(TOKENS)) host.documents.set(pathOf(tokenId), large);
    for (const tokenId of [1, 2, 3]) host.modes.set(pathOf(tokenId), 'endless');
    await announce();
    const status = await read(TOKENS);
    assert.match(status, new RegExp(`${TOKENS} too-large \\(ipfs\\)`));
    assert.ok(host.sentMax() < SENT_MAX, `${host.sentMax()} bytes in one connection`);
    assert.equal(await check(), TOKENS);
    host.modes.clear();
  });

  await t.test('a redirect to an address that is not public is not followed', async () => {
    const targets = [
      `http://127.0.0.1:${inner.port}/`,
      `http://localhost:${inner.port}/`,
      `http://[::1]:${inner.port}/`,
      `http://[::ffff:127.0.0.1]:${inner.port}/`,
      `http://0.0.0.0:${inner.port}/`,
      `http://2130706433:${inner.port}/`,
      'http://169.254.169.254/latest/meta-data/',
      'http://10.0.0.1/',
    ];
    for (const tokenId of ids(TOKENS)) {
      host.documents.set(pathOf(tokenId), `${targets[tokenId % targets.length]}`);
    }
    await announce();
    const status = await read(TOKENS);
    assert.match(status, new RegExp(`${TOKENS} private-address \\(ipfs\\)`));
    assert.equal(inner.connections(), 0);
    assert.equal(await check(), TOKENS);
  });

  await t.test('when the host dies, all metadata that was read stays', async () => {
    host.set('dead');
    await announce();
    assert.match(await read(TOKENS), /unreachable \(ipfs\)/);
    assert.equal(await check(), TOKENS);
  });

  await t.test(
    'when the host is back, each document is read once, and no faster than the budget of requests allows',
    async () => {
      const all = TOKENS + TOKENS_LATER;
      await transact(chain, [callOf(owner, contract, 'mintBatch', [owner, BigInt(TOKENS + 1), BigInt(TOKENS_LATER)])]);
      await until(async () => (await readTokens()).length === all, LIMIT_MS, 'the new tokens are not served');
      publish(all);
      host.documents.set(pathOf('collection'), COLLECTION);
      await read(all);
      host.requests.length = 0;
      const startedAt = performance.now();
      skip(RETRY_MS);
      host.set('well');
      await runTask(service, 'metadata');
      const allowed = BURST + ((performance.now() - startedAt) * BUDGET) / HOUR_MS;
      assert.ok(host.requests.length <= allowed, `${host.requests.length} requests at once`);
      assert.match(await mercat('status'), /the budget of requests for metadata is used up for now/);
      skip(HOUR_MS);
      const isComplete = async () => {
        await runTask(service, 'metadata');
        return (await check()) === all;
      };
      await until(isComplete, LIMIT_MS, 'not all tokens have names');
      assert.deepEqual(await failures(), []);
      const expected = [...ids(all).map(pathOf), pathOf('collection')];
      assert.deepEqual(host.requests.toSorted(), expected.toSorted());
    },
  );

  await t.test(
    'names, pictures, traits, royalty and ranks are served, and the royalty is part of the buyer floor',
    async () => {
      const all = TOKENS + TOKENS_LATER;
      const createdAt = new Date(clock()).toISOString();
      const location = { chain: 'ethereum', contractAddress: contract.address };
      const order = { kind: 'order', ...location, tokenId: '1', priceRaw: String(PRICE), seller: owner, createdAt };
      await service.load([order]);
      // Tokens are ranked only if it is known how many tokens the collection had at a recent block.
      await mine(chain);
      const areRanked = async () => {
        skip(RERANK_MS);
        await runTask(service, 'rarity');
        return (await readTokens()).every(({ rarity }) => rarity.rank >= 1 && rarity.rank <= all);
      };
      await until(areRanked, LIMIT_MS, 'not all tokens have ranks');
      const { data: token } = await service.ok(`/v1/tokens/ethereum/${contract.address}/1`);
      assert.deepEqual([token.name, token.image, token.rarity.rank], ['Lamp 1', 'https://pictures.example/1.png', 1]);
      const { data: traits } = await service.ok(`/explore/v1/collections/${id}/traits`);
      const counts = Map.groupBy(ids(all), shadeOf);
      assert.deepEqual(
        new Map(traits[0].values.map((one: any) => [one.value, one.count])),
        new Map([...counts].map(([shade, of]) => [shade, of.length])),
      );
      const { data: collection } = await service.ok(`/v1/collections/${id}`);
      const { image, royaltyBps } = collection;
      assert.deepEqual([image, royaltyBps], [COLLECTION.image, ROYALTY_BPS]);
      const { data: floor } = await service.ok(`/v1/collections/${id}/floor`);
      const platformFee = (PRICE * 200n) / 10_000n;
      const royalty = (PRICE * BigInt(ROYALTY_BPS)) / 10_000n;
      assert.equal(floor.buyerFloor.raw, String(PRICE + royalty + platformFee));
    },
  );
});

/** A listener on loopback that no request of the service may reach. */
async function startForbiddenListener(t: TestContext): Promise<{ port: number; connections(): number }> {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}
