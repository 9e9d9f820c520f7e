// The metadata of tokens and collections is read from their contracts on a local chain, and from a host that may be slow, wrong or down.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { after, before, test } from 'node:test';
import { callOf, deploy, mine, rollBack } from '../../../devnet/chain.ts';
import { readContract } from '../../../devnet/artifacts.ts';
import type { Contract } from '../../../devnet/protocol.ts';
import { projectAndCover } from '../../../src/sources/chains/coverage.ts';
import { FollowedChains } from '../../../src/sources/chains/followed-chains.ts';
import { readConfig } from '../../../src/service/config.ts';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { insertMetadataAnnouncements } from '../../../src/market/index/queries/metadata-announcements.ts';
import { readMetadataStatus } from '../../../src/sources/metadata/status.ts';
import { createMetadataTask } from '../../../src/sources/metadata/task.ts';
import type { Hex } from '../../../src/platform/core/evm.ts';
import { readPresentFloors } from '../../../src/market/reads/floors/floor.ts';
import { findRankSource } from '../../../src/market/index/queries/rarity.ts';
import { listObservedTokens } from '../../../src/market/index/queries/tokens.ts';
import { readToken } from '../../../src/market/reads/token.ts';
import { createRarityTask } from '../../../src/service/workers/rarity.ts';
import { upsertCollectionMetadata } from '../../../src/sources/metadata/queries/collection-metadata.ts';
import { listCollectionsByIds, listRecordedCollections } from '../../../src/market/reads/queries/collections.ts';
import { createCollectionOperations } from '../../../src/service/workers/follow-operations.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import type { LocalWorld } from '../../support/chain/followed-collection.ts';
import { follow, followWorld, startLocalWorld } from '../../support/chain/followed-collection.ts';
import type { HostMode } from '../../support/chain/metadata-host.ts';
import { startMetadataHost } from '../../support/chain/metadata-host.ts';
import type { CallResponse } from '../../support/chain/altered-calls.ts';
import { startAlteredCalls } from '../../support/chain/altered-calls.ts';
import { emptySyncTables, ingest, toContext } from '../../support/service/intake.ts';

const PACE = { timeoutMs: 300, openMs: 1, sliceMs: 5_000 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

forOneEngine('metadata from contracts', (engine) => {
  let world: LocalWorld;
  let db: Database;
  before(async () => {
    world = await startLocalWorld();
    db = await engine.open();
  });
  after(() => world.chain.stop());

  const deployCollection = async (base: string, tokens: number): Promise<Contract> => {
    const artifact = readContract('DevnetCollection');
    const [owner] = world.people;
    const args = ['Lamps', 'LAMP', base, owner, 450];
    const contract = { address: await deploy(world.chain, artifact, args), abi: artifact.abi };
    await world.act(callOf(owner, contract, 'mintBatch', [owner, 1n, BigInt(tokens)]));
    return contract;
  };
  /** Deploys an ERC-1155 contract with five units of each token. */
  const deployEditions = async (uri: string, tokenIds: readonly bigint[]): Promise<Contract> => {
    const artifact = readContract('DevnetEditions');
    const [owner] = world.people;
    const contract = { address: await deploy(world.chain, artifact, ['Prints', uri, owner, 450]), abi: artifact.abi };
    await world.act(callOf(owner, contract, 'mintBatch', [owner, tokenIds, tokenIds.map(() => 5n)]));
    return contract;
  };
  /** Follows only the collections of the contracts. `run` runs the task once. */
  const start = async (t: TestContext, contracts: readonly Contract[], settings: Record<string, string> = {}) => {
    await emptySyncTables(db);
    await db.query(`truncate main.collection_metadata, main.request_budget, main.metadata_announcement`);
    let ahead = 0;
    const clock = () => Date.now() + ahead;
    const config = readConfig({
      RPC_URL_ETHEREUM: world.chain.url,
      METADATA_ALLOW_PRIVATE: 'true',
      IPFS_GATEWAYS: '',
      ARWEAVE_GATEWAYS: '',
      ...settings,
    });
    const chains = createChains();
    const log = createLog('silent');
    const random = () => 0.5;
    const followed = new FollowedChains({ config, chains, log, clock, random });
    t.after(() => followed.close());
    const { settle, projection } = followWorld({ main: db, indexer: db }, world, { clock });
    await settle();
    for (const contract of contracts) await follow(db, world, contract);
    await settle();
    const context = { ...toContext(db, { clock, log, random }), config, followed };
    const task = createMetadataTask(context, PACE);
    const run = () => task.run(AbortSignal.timeout(60_000), () => undefined, { isFull: false });
    const [chain = assert.fail()] = [chains.get(world.chain.id)];
    const tokenOf = (contract: Contract, id: number) =>
      readToken(context.market, {
        chain,
        contractAddress: contract.address as Address,
        asset: String(id) as AssetId,
      });
    const operations = createCollectionOperations({ ...context, onFollowed: async () => undefined });
    const add = ({ address }: Contract, { dryRun }: { dryRun: boolean }) =>
      operations['collections.add']({ chain: chain.id, address, dryRun, fromBlock: 1 });
    const skip = (ms: number) => {
      ahead += ms;
    };
    /** Lets time pass for the service, and for the request budgets, which use the clock of the database. */
    const pass = async (ms: number) => {
      skip(ms);
      await db.query(`update main.request_budget set at = at - $1 * interval '1 ms'`, [ms]);
    };
    const rank = () => createRarityTask(context).run(AbortSignal.timeout(60_000), () => undefined, { isFull: false });
    return {
      add,
      run,
      rank,
      /** Stores that the log of the chain covers the collections. */
      cover: () => projectAndCover(projection),
      market: context.market,
      endpointStates: () =>
        followed
          .readerOf(chain.id)
          ?.endpoints()
          .map(({ state, failures }) => [state, failures]),
      settle,
      tokenOf,
      skip,
      pass,
      views: context.market.recentViews,
      readStatus: () => readMetadataStatus(context),
      idOf: (contract: Contract) => `${chain.id}_${contract.address}`,
    };
  };
  const traitsOf = (collectionId: string, asset: string) =>
    db.query(
      `select name, value, kind from indexer.token_trait where collection_id = $1 and asset = $2 order by position`,
      [collectionId, asset],
    );
  const failuresOf = () =>
    db.query<{ failure: string; count: number }>(
      `select failure, count(*)::int as count from indexer.token_metadata where failure is not null group by failure order by failure`,
    );
  const document = (id: number) => ({
    name: `Lamp ${id}`,
    image: `https://pictures.example/${id}.png`,
    description: 'A lamp',
    attributes: [
      { trait_type: 'Shade', value: id % 2 === 0 ? 'Linen' : 'Paper' },
      { trait_type: 'Watts', value: 40 + id, display_type: 'number' },
    ],
  });

  test('names, pictures, traits and royalties are served from data URIs of the contract', async (t) => {
    const contract = await deployCollection('', 30);
    const { run, tokenOf, idOf } = await start(t, [contract]);
    const id = idOf(contract);
    await ingest(db, {
      kind: 'collection',
      chain: 'ethereum',
      contractAddress: contract.address,
      name: contract.address,
    });
    const result = await run();
    assert.deepEqual([result.read, result.refused, result.problems], [30, 0, []]);
    const token = await tokenOf(contract, 7);
    assert.equal(token.name, 'Lamps #7');
    assert.match(token.image ?? '', /^data:image\/svg\+xml;base64,/);
    const traits = await traitsOf(id, '7');
    assert.deepEqual(
      traits.map(({ name, kind }) => [name, kind]),
      [
        ['Colour', 'text'],
        ['Season', 'text'],
        ['Weight', 'number'],
      ],
    );
    assert.deepEqual(
      token.traits,
      traits.map(({ name, value }) => ({ name, value })),
    );
    const [collection] = await listCollectionsByIds(db, [id]);
    assert.deepEqual([collection?.name, collection?.royaltyBps], ['Lamps', 450]);
    assert.match(collection?.banner ?? '', /^data:image/);
    const again = await run();
    assert.equal(again.read, 0, 'metadata that was read is due again');
  });

  test('a run also ends if its last batch is exactly full', async (t) => {
    const contract = await deployCollection('', 25);
    const { run } = await start(t, [contract]);
    const result = await run();
    assert.deepEqual([result.read, result.refused, result.problems], [25, 0, []]);
  });

  test('the collection record of an operator or marketplace takes precedence over the contract, field by field', async (t) => {
    const contract = await deployCollection('', 1);
    const { run, idOf } = await start(t, [contract]);
    const record = { chain: 'ethereum', contractAddress: contract.address, name: 'Curated', royaltyBps: 100 };
    await ingest(db, { kind: 'collection', ...record });
    await run();
    const [collection] = await listCollectionsByIds(db, [idOf(contract)]);
    assert.deepEqual([collection?.name, collection?.royaltyBps], ['Curated', 100]);
    assert.equal(collection?.description, 'A collection of a local chain.');
  });

  test('the metadata of the contract takes precedence over a reported name, and a reported rank is kept', async (t) => {
    const contract = await deployCollection('', 1);
    const { run, tokenOf } = await start(t, [contract]);
    const reported = { chain: 'ethereum', contractAddress: contract.address, tokenId: '1' };
    await ingest(db, { kind: 'token', ...reported, name: 'Reported', rarityRank: 5 });
    assert.equal((await tokenOf(contract, 1)).name, 'Reported');
    await run();
    await ingest(db, { kind: 'token', ...reported, name: 'Reported again' });
    const token = await tokenOf(contract, 1);
    assert.deepEqual([token.name, token.rarityRank], ['Lamps #1', 5]);
  });

  test('imported traits are served until the metadata of the contract is read', async (t) => {
    const contract = await deployCollection('', 1);
    const { run, tokenOf } = await start(t, [contract]);
    const imported = { chain: 'ethereum', contractAddress: contract.address, tokenId: '1', traits: ['Hat: Cap'] };
    await ingest(db, { kind: 'token', ...imported });
    assert.deepEqual((await tokenOf(contract, 1)).traits, [{ name: 'Hat', value: 'Cap' }]);
    await run();
    const names = (await tokenOf(contract, 1)).traits.map(({ name }) => name);
    assert.deepEqual(names, ['Colour', 'Season', 'Weight']);
    await ingest(db, { kind: 'token', ...imported, traits: ['Hat: Fez'] });
    assert.deepEqual(
      (await tokenOf(contract, 1)).traits.map(({ name }) => name),
      names,
    );
  });

  test('the metadata of an imported token is read from the contract after the token was minted on the chain', async (t) => {
    const contract = await deployCollection('', 1);
    const { run, tokenOf, settle } = await start(t, [contract]);
    const [owner] = world.people;
    const imported = { chain: 'ethereum', contractAddress: contract.address, tokenId: '2', traits: ['Hat: Cap'] };
    await ingest(db, { kind: 'token', ...imported });
    assert.equal((await run()).read, 1);
    assert.deepEqual((await tokenOf(contract, 2)).traits, [{ name: 'Hat', value: 'Cap' }]);
    await world.act(callOf(owner, contract, 'mint', [owner, 2n]));
    await settle();
    await run();
    assert.equal((await tokenOf(contract, 2)).name, 'Lamps #2');
    await rollBack(world.chain, 1);
    for (let blocks = 0; blocks < 2; blocks += 1) await mine(world.chain);
    await settle();
    assert.deepEqual((await tokenOf(contract, 2)).traits, [{ name: 'Hat', value: 'Cap' }]);
  });

  test('the tokens of a followed collection are ranked, and its royalty is part of the buyer floor', async (t) => {
    const contract = await deployCollection('', 12);
    const { run, idOf, rank, cover, market } = await start(t, [contract]);
    const location = { chain: 'ethereum', contractAddress: contract.address };
    await ingest(db, { kind: 'collection', ...location, name: contract.address });
    const [seller] = world.people;
    const createdAt = new Date(Date.now() - 60_000).toISOString();
    await ingest(db, { kind: 'order', ...location, tokenId: '1', priceRaw: '10000', seller, createdAt });
    await cover();
    await run();
    await rank();
    const states = await db.query(`select state, kind, tokens::int from indexer.collection_rarity`);
    assert.deepEqual(states, [{ state: 'ranked', kind: 'chain', tokens: 12 }]);
    const keys = Array.from({ length: 12 }, (_, index) => ({ collectionId: idOf(contract), asset: String(index + 1) }));
    const observed = await listObservedTokens(db, keys, { now: Date.now() });
    const ranks = [...observed.values()].map(({ rarityRank }) => rarityRank ?? assert.fail('no rank'));
    assert.equal(ranks.length, 12);
    assert.equal(Math.min(...ranks), 1);
    assert.ok(Math.max(...ranks) <= 12);
    const source = await findRankSource(db, idOf(contract));
    assert.deepEqual([source?.kind, source?.source, source?.isComplete], ['chain', 'ethereum', true]);
    const [collection = assert.fail()] = await listCollectionsByIds(db, [idOf(contract)]);
    const present = await readPresentFloors(market, collection);
    const [royalty, platformFee] = [450n, 200n];
    assert.deepEqual(present?.floors, { ask: 10_000n, total: 10_000n + royalty + platformFee });
  });

  test('a contract that announces changed metadata of its collection is read again', async (t) => {
    // The code emits ContractURIUpdated of ERC-7572 at each call.
    const topic = 'a5d4097edda6d87cb9329af83fb3712ef77eeb13738ffe43cc35a4ce305ad962';
    const bytecode: Hex = `0x602780600b6000396000f37f${topic}60006000a100`;
    const contract = { address: await deploy(world.chain, { abi: [], bytecode }), abi: [] };
    const { run, settle, idOf, skip } = await start(t, [contract]);
    const dueAt = async () => {
      const rows = await db.query(`select due_at from main.collection_metadata where collection_id = $1`, [
        idOf(contract),
      ]);
      return Number(rows[0]?.['due_at']);
    };
    await run();
    const before = await dueAt();
    skip(HOUR_MS);
    const [from] = world.people;
    await world.act({ from, to: contract.address, data: '0x' });
    await settle();
    assert.ok((await dueAt()) < before - HOUR_MS);
    await run();
    assert.ok((await dueAt()) >= before + HOUR_MS - 60_000);
  });

  test('announcements do not accumulate while metadata is not read', async (t) => {
    const host = await startMetadataHost(t);
    const contract = await deployCollection(`${host.url}/`, 2);
    const { run, settle } = await start(t, [contract], { METADATA_HOURLY_BUDGET: '0' });
    const [owner] = world.people;
    await world.act(callOf(owner, contract, 'announce', [1n]));
    await settle();
    assert.equal((await run()).read, 1);
    const ranges = Array.from({ length: 1_001 }, (_, id) => ({ collectionId: 'c', from: BigInt(id), to: BigInt(id) }));
    await insertMetadataAnnouncements(db, ranges);
    assert.equal((await run()).read, 1_001);
    assert.deepEqual(await db.query(`select * from main.metadata_announcement`), []);
    assert.deepEqual(host.requests, []);
  });

  const tokenUriOf = (id: number) => `c87b56dd${id.toString(16).padStart(64, '0')}`;
  const failedCall = (message: string) => (): CallResponse => ({ error: { code: -32_000, message } });

  for (const message of ['return data out of bounds', 'execution aborted (timeout = 5s)', 'response too large']) {
    test(`when the call for one token fails with “${message}”, the other tokens are still read`, async (t) => {
      const contract = await deployCollection('', 30);
      const endpoint = await startAlteredCalls(t, world.chain.url, new Map([[tokenUriOf(7), failedCall(message)]]));
      const { run, endpointStates } = await start(t, [contract], { RPC_URL_ETHEREUM: endpoint });
      const result = await run();
      assert.deepEqual([result.read, result.refused], [30, 1]);
      assert.deepEqual(await failuresOf(), [{ failure: 'unreadable', count: 1 }]);
      assert.deepEqual(endpointStates(), [['ready', 0]]);
      assert.equal((await run()).read, 0, 'the failed token was read again without a wait');
    });
  }

  test('when two endpoints disagree about the URI of one token, the other tokens are still read', async (t) => {
    const contract = await deployCollection('', 30);
    const alter = (response: CallResponse) => ({ result: String(response.result).replace(/[1-9a-e](?=0*$)/, 'f') });
    const other = await startAlteredCalls(t, world.chain.url, new Map([[tokenUriOf(7), alter]]));
    const { run, endpointStates } = await start(t, [contract], { RPC_URL_ETHEREUM: `${world.chain.url},${other}` });
    await run();
    assert.deepEqual(await failuresOf(), [{ failure: 'unreadable', count: 1 }]);
    assert.deepEqual(endpointStates(), [
      ['ready', 0],
      ['ready', 0],
    ]);
  });

  test('a royalty is kept when the document of the collection cannot be read', async (t) => {
    const host = await startMetadataHost(t);
    const contract = await deployCollection(`${host.url}/`, 1);
    const { run, idOf } = await start(t, [contract]);
    const record = { chain: 'ethereum', contractAddress: contract.address, name: contract.address };
    await ingest(db, { kind: 'collection', ...record });
    await run();
    await db.query(`update main.collection_metadata set royalty_bps = 7, due_at = 'epoch'`);
    await upsertCollectionMetadata(db, {
      collectionId: idOf(contract),
      document: null,
      royaltyBps: null,
      failure: 'timeout',
      host: 'meta.example',
      uriDigest: null,
      attempts: 1,
      dueAt: 0,
      at: 0,
    });
    const [collection] = await listCollectionsByIds(db, [idOf(contract)]);
    const [recorded] = await listRecordedCollections(db, [idOf(contract)]);
    assert.deepEqual([collection?.royaltyBps, recorded?.royaltyBps], [7, null]);
  });

  const FAILURES: readonly (readonly [HostMode, string])[] = [
    ['hanging', 'timeout'],
    ['dripping', 'timeout'],
    ['endless', 'too-large'],
    ['lying', 'not-json'],
    ['error-object', 'no-fields'],
    ['deep', 'not-json'],
    ['failing', 'bad-status'],
    ['dead', 'unreachable'],
  ];
  test('a host that is slow, wrong or down leaves earlier metadata as it is, and is read again when it works', async (t) => {
    const host = await startMetadataHost(t);
    const contract = await deployCollection(`${host.url}/`, 3);
    for (let id = 1; id <= 20; id += 1) host.documents.set(`/${id}`, document(id));
    host.documents.set('/collection', { name: 'Hosted', seller_fee_basis_points: 9_999 });
    const { run, tokenOf, skip, settle } = await start(t, [contract]);
    const [owner] = world.people;
    await run();
    for (const [index, [mode, failure]] of FAILURES.entries()) {
      const minted = 4 + index;
      await world.act(callOf(owner, contract, 'mint', [owner, BigInt(minted)]));
      await settle();
      await db.query(`update indexer.token_metadata set due_at = 'epoch' where asset = '3'`);
      host.set(mode);
      await run();
      assert.equal((await tokenOf(contract, 3)).name, 'Lamp 3', mode);
      assert.equal((await tokenOf(contract, minted)).name, null, mode);
      const failures = await failuresOf();
      assert.deepEqual(failures, [{ failure, count: 2 }], mode);
      host.set('well');
      skip(DAY_MS);
      await run();
      assert.deepEqual(await failuresOf(), [], mode);
      assert.equal((await tokenOf(contract, minted)).name, `Lamp ${minted}`, mode);
      assert.equal((await traitsOf(`ethereum_${contract.address}`, String(minted))).length, 2, mode);
    }
  });

  test('a host that is down gets fewer requests than its collection has tokens, and a failure is recorded for each token', async (t) => {
    const host = await startMetadataHost(t);
    host.set('dead');
    const [dead, well] = [await deployCollection(`${host.url}/`, 60), await deployCollection('', 30)];
    const { run, idOf, readStatus } = await start(t, [dead, well]);
    await run();
    const rows = await db.query(
      `select collection_id, count(*) filter (where failure is not null)::int as failed, count(*)::int as tokens
       from indexer.token_metadata group by 1`,
    );
    const byId = new Map(rows.map((row) => [row['collection_id'], [row['failed'], row['tokens']]]));
    assert.deepEqual(byId.get(idOf(dead)), [60, 60]);
    assert.deepEqual(byId.get(idOf(well)), [0, 30]);
    const status = new Map((await readStatus()).map((one) => [one.collectionId, one]));
    const { tokens, waiting, failures, collectionFailure } = status.get(idOf(dead)) ?? assert.fail();
    assert.deepEqual([tokens, waiting, collectionFailure?.host], [60, 0, new URL(host.url).host]);
    assert.deepEqual(new Set(failures.map(({ reason }) => reason)), new Set(['unreachable', 'host-down']));
    assert.deepEqual(status.get(idOf(well))?.failures, []);
    // The breaker admits a trial after each millisecond, so only an upper bound of the requests is certain.
    assert.ok(host.requests.length < 60, `${host.requests.length} requests`);
  });

  test('no request reaches an address that is not public, directly or by a redirect', async (t) => {
    const [host, inner] = [await startMetadataHost(t), await startMetadataHost(t)];
    inner.documents.set('/1', document(1));
    host.documents.set('/ipfs/Inner/1', `${inner.url}/1`);
    host.documents.set('/ipfs/Loop/1', `${host.url}/ipfs/Loop/1`);
    host.documents.set('/ipfs/Good/1', document(1));
    const bases = [
      `${inner.url}/`,
      'https://localhost/',
      'ipfs://Inner/',
      'ipfs://Loop/',
      'ipfs://../secret/',
      'ipfs://Good/',
    ];
    const contracts: Contract[] = [];
    for (const base of bases) contracts.push(await deployCollection(base, 1));
    const { run, idOf } = await start(t, contracts, {
      METADATA_ALLOW_PRIVATE: 'false',
      IPFS_GATEWAYS: `${host.url}/ipfs`,
    });
    await run();
    const rows = await db.query<{ collection_id: string; failure: string | null }>(
      `select collection_id, failure from indexer.token_metadata`,
    );
    const failures = new Map(rows.map((row) => [row.collection_id, row.failure]));
    assert.deepEqual(
      contracts.map((contract) => failures.get(idOf(contract))),
      ['private-address', 'private-address', 'private-address', 'private-address', 'unsupported-uri', null],
    );
    assert.deepEqual(inner.requests, []);
    assert.ok(host.requests.every((path) => path.startsWith('/ipfs/')));
  });

  test('three redirects between allowed hosts are followed, and a fourth redirect is not', async (t) => {
    const [host, other] = [await startMetadataHost(t), await startMetadataHost(t)];
    const contract = await deployCollection(`${host.url}/`, 2);
    host.documents.set('/2', `${host.url}/1`);
    host.documents.set('/1', `${other.url}/first`);
    other.documents.set('/first', `${host.url}/second`);
    host.documents.set('/second', `${other.url}/last`);
    other.documents.set('/last', document(1));
    const { run, tokenOf } = await start(t, [contract]);
    await run();
    assert.deepEqual(await failuresOf(), [{ failure: 'too-many-redirects', count: 1 }]);
    assert.deepEqual([(await tokenOf(contract, 1)).name, (await tokenOf(contract, 2)).name], ['Lamp 1', null]);
    assert.deepEqual(other.requests.toSorted(), ['/first', '/first', '/last']);
  });

  test('a token is read again after its contract has announced a change, but not within ten minutes of the last read', async (t) => {
    const host = await startMetadataHost(t);
    const contract = await deployCollection(`${host.url}/`, 3);
    for (let id = 1; id <= 3; id += 1) host.documents.set(`/${id}`, document(id));
    const { run, tokenOf, skip, settle } = await start(t, [contract]);
    const [owner] = world.people;
    const announce = async (id: bigint) => {
      await world.act(callOf(owner, contract, 'announce', [id]));
      await settle();
      host.requests.length = 0;
      await run();
      return host.requests.toSorted();
    };
    await run();
    host.documents.set('/2', {
      ...document(2),
      name: 'Changed',
      attributes: [{ trait_type: 'Shade', value: 'Glass' }],
    });
    assert.deepEqual(await announce(2n), [], 'a token was read again within ten minutes');
    skip(HOUR_MS);
    await run();
    assert.equal((await tokenOf(contract, 2)).name, 'Changed');
    assert.deepEqual(await traitsOf(`ethereum_${contract.address}`, '2'), [
      { name: 'Shade', value: 'Glass', kind: 'text' },
    ]);
    skip(HOUR_MS);
    assert.deepEqual(await announce(3n), ['/3']);
    skip(HOUR_MS);
    for (let id = 1; id <= 3; id += 1)
      host.documents.set(`/revealed/${id}`, { ...document(id), name: `Revealed ${id}` });
    await world.act(callOf(owner, contract, 'setBaseURI', [`${host.url}/revealed/`]));
    await settle();
    await run();
    const names = await Promise.all([1, 2, 3].map(async (id) => (await tokenOf(contract, id)).name));
    assert.deepEqual(names, ['Revealed 1', 'Revealed 2', 'Revealed 3']);
    assert.deepEqual(await db.query(`select * from main.metadata_announcement`), []);
  });

  test('a token of an ERC-1155 contract is read again after the contract has announced its URI', async (t) => {
    const host = await startMetadataHost(t);
    const pathOf = (folder: string, id: number) => `${folder}/${id.toString(16).padStart(64, '0')}`;
    const editions = await deployEditions(`${host.url}/{id}`, [1n, 26n]);
    for (const id of [1, 26]) host.documents.set(pathOf('', id), document(id));
    host.documents.set(pathOf('/new', 26), { ...document(26), name: 'Changed' });
    const { add, run, tokenOf, skip, settle } = await start(t, []);
    await add(editions, { dryRun: false });
    await settle();
    await run();
    assert.deepEqual(host.requests.toSorted(), [pathOf('', 1), pathOf('', 26)]);
    skip(HOUR_MS);
    const [owner] = world.people;
    await world.act(callOf(owner, editions, 'setURI', [26n, `${host.url}/new/{id}`]));
    await settle();
    host.requests.length = 0;
    await run();
    assert.deepEqual(host.requests, [pathOf('/new', 26)]);
    assert.deepEqual([(await tokenOf(editions, 1)).name, (await tokenOf(editions, 26)).name], ['Lamp 1', 'Changed']);
  });

  test('the standard that a contract reports by ERC-165 decides which function returns the URIs of its tokens', async (t) => {
    const [collection, editions] = [await deployCollection('', 1), await deployEditions('', [1n])];
    const { add, run, tokenOf, settle } = await start(t, []);
    assert.equal((await add(collection, { dryRun: false })).standard, 'erc721');
    assert.equal((await add(editions, { dryRun: false })).standard, 'erc1155');
    await settle();
    await run();
    assert.deepEqual(await failuresOf(), []);
    assert.deepEqual(
      [(await tokenOf(collection, 1)).name, (await tokenOf(editions, 1)).name],
      ['Lamps #1', 'Prints #1'],
    );
  });

  test('the metadata of a token is deleted when the block of its mint is orphaned', async (t) => {
    const contract = await deployCollection('', 1);
    const { run, settle } = await start(t, [contract]);
    const [owner] = world.people;
    await world.act(callOf(owner, contract, 'mint', [owner, 2n]));
    await settle();
    await ingest(db, {
      kind: 'token',
      chain: 'ethereum',
      contractAddress: contract.address,
      tokenId: '2',
      name: 'Two',
    });
    await run();
    const assets = () =>
      db.query(`select asset from indexer.token_metadata union select asset from indexer.token_trait order by 1`);
    assert.deepEqual(await assets(), [{ asset: '1' }, { asset: '2' }]);
    await rollBack(world.chain, 1);
    for (let blocks = 0; blocks < 2; blocks += 1) await mine(world.chain);
    await settle();
    assert.deepEqual(await assets(), [{ asset: '1' }]);
  });

  test('the estimate for a collection names the host of its metadata, and zero minutes if the metadata is in data URIs', async (t) => {
    const [hosted, inline] = [await deployCollection('https://meta.example/', 1), await deployCollection('', 1)];
    const { add } = await start(t, []);
    assert.deepEqual((await add(hosted, { dryRun: true })).metadata, {
      host: 'meta.example',
      tokens: null,
      minutes: null,
    });
    assert.deepEqual((await add(inline, { dryRun: true })).metadata, { host: 'data', tokens: null, minutes: 0 });
  });

  test('the metadata of recently viewed tokens is read first', async (t) => {
    const host = await startMetadataHost(t);
    const contract = await deployCollection(`${host.url}/`, 40);
    for (let id = 1; id <= 40; id += 1) host.documents.set(`/${id}`, document(id));
    const { run, tokenOf, views } = await start(t, [contract], { METADATA_HOST_BUDGET: '50' });
    for (const id of [38, 39]) await tokenOf(contract, id);
    await views.flush();
    await run();
    const read = host.requests.filter((path) => path !== '/collection');
    assert.deepEqual(read.slice(0, 2).toSorted(), ['/38', '/39']);
    assert.equal(host.requests.length, 5);
  });

  test('no more requests are sent than the budgets allow, and the rest is read later', async (t) => {
    const host = await startMetadataHost(t);
    const contract = await deployCollection(`${host.url}/`, 40);
    for (let id = 1; id <= 40; id += 1) host.documents.set(`/${id}`, document(id));
    const { run, skip } = await start(t, [contract], { METADATA_HOST_BUDGET: '100' });
    const first = await run();
    assert.equal(first.soon, true);
    assert.equal(host.requests.length, 10, 'the first run did not send exactly a tenth of the hourly budget');
    skip(HOUR_MS / 10);
    await run();
    assert.ok(host.requests.length > 10 && host.requests.length <= 20);
  });

  test('no more requests are sent to all hosts in an hour than the budget allows, and the rest is read in the next hour', async (t) => {
    const hosts = [await startMetadataHost(t), await startMetadataHost(t)];
    const contracts: Contract[] = [];
    for (const { url, documents } of hosts) {
      contracts.push(await deployCollection(`${url}/`, 2));
      for (const id of [1, 2]) documents.set(`/${id}`, document(id));
      documents.set('/collection', { name: 'Hosted' });
    }
    const { run, pass, tokenOf } = await start(t, contracts, { METADATA_HOURLY_BUDGET: '4' });
    const countRequests = () => hosts.reduce((sum, { requests }) => sum + requests.length, 0);
    const readForAnHour = async () => {
      for (let runs = 0; runs < 3; runs += 1) {
        await run();
        await pass(HOUR_MS / 3);
      }
    };
    await readForAnHour();
    assert.ok(countRequests() > 0 && countRequests() <= 4, `${countRequests()} requests`);
    assert.deepEqual(await failuresOf(), []);
    await readForAnHour();
    assert.equal(countRequests(), 6);
    for (const contract of contracts) {
      assert.deepEqual([(await tokenOf(contract, 1)).name, (await tokenOf(contract, 2)).name], ['Lamp 1', 'Lamp 2']);
    }
  });
});
