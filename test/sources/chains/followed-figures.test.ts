// The owners, the supply and the volume of a followed collection come from its chain. This is also true for an ERC-1155 collection,
// whose tokens may have several holders.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { backfillOnce } from '../../../src/sources/chains/backfill.ts';
import { projectAndCover } from '../../../src/sources/chains/coverage.ts';
import { followOnce } from '../../../src/sources/chains/follower.ts';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Hex, TokenStandard } from '../../../src/platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';
import { ITEM_TYPE } from '../../../src/platform/core/seaport.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import { readCollectionDetail } from '../../../src/market/reads/collection.ts';
import { recountFigures } from '../../../src/market/index/recount.ts';
import { createCollectionOperations } from '../../../src/service/workers/follow-operations.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { toEvmAddress, toEvmHash } from '../../../sample/random.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import type { ScriptedEvent } from '../../support/chain/scripted-chain.ts';
import { ScriptedChain } from '../../support/chain/scripted-chain.ts';
import { NOW, collection, emptyTables, ingest, toContext, token } from '../../support/service/intake.ts';
import { mergeChanges } from '../../../src/market/activity/merge.ts';
import { NEWEST, readActivity } from '../../../src/market/explore/activity.ts';
import { toWireActivity } from '../../../src/market/explore/http/activity.ts';
import { readPriceContext } from '../../../src/market/reads/http/price.ts';
import type { OwnersPage } from '../../../src/market/explore/token-owners.ts';
import { readTokenOwners } from '../../../src/market/explore/token-owners.ts';
import { listTokens } from '../../../src/market/explore/tokens.ts';
import { listWalletTokens } from '../../../src/market/explore/wallets.ts';

const ethereum = createChains().get('ethereum') ?? assert.fail();
const CONTRACT = toEvmAddress('editions');
const COLLECTION = `ethereum_${CONTRACT}`;
const PROTOCOL = toEvmAddress('protocol');
const HOUR_MS = 60 * 60_000;
const ANN = toEvmAddress('Ann');
const BEN = toEvmAddress('Ben');
const COY = toEvmAddress('Coy');

forOneEngine('a collection that is followed', (engine) => {
  let db: Database;
  let chain: ScriptedChain;
  let now = NOW;
  let context: ReturnType<typeof toContext>;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    now = NOW;
    await emptyTables(db);
    await db.query(
      `truncate main.follow, main.chain_event, main.chain_reorg, main.chain_cursor, main.chain_block, main.holding,
         indexer.chain_cursor, indexer.judged_collection cascade`,
    );
    chain = new ScriptedChain(ethereum, NOW - 60_000);
    context = toContext(db, { clock: () => now });
    await ingest(db, collection({ contractAddress: CONTRACT, slug: 'editions' }));
    await follow('erc1155');
  });
  const follow = (standard: TokenStandard) =>
    upsertFollow(db, {
      collectionId: COLLECTION,
      chain: 'ethereum',
      contractAddress: CONTRACT,
      standard,
      fromBlock: 0,
      names: new Map(),
      createdAt: NOW,
    });

  const move = (tokenId: string, from: Address, to: Address, quantity = 1n): ScriptedEvent => ({
    kind: 'transfer',
    contract: CONTRACT,
    tokenId: tokenId as AssetId,
    from,
    to,
    quantity,
  });
  const mint = (tokenId: string, to: Address, quantity = 1n) => move(tokenId, ZERO_ADDRESS, to, quantity);
  const settle = async () => {
    const follower = { ...context, reader: chain.reader, protocols: new Map() };
    while ((await followOnce(follower)).more || (await backfillOnce(follower)).more);
    while (await projectAndCover({ ...context, chain: ethereum }));
    await sweepExpired(context);
    const scope = { prefix: '', now, limit: 10 };
    assert.deepEqual(await recountFigures({ ...context, main: db, indexer: db }, scope), []);
  };
  /** Supply and owners, each with the kind of its provenance. */
  const figures = async () => {
    const { supply, owners } = await readCollectionDetail(context.market, COLLECTION);
    return [supply && [supply.value, supply.kind], owners && [owners.value, owners.kind]];
  };
  const chainFigures = (supply: number, owners: number) => [
    [supply, 'chain'],
    [owners, 'chain'],
  ];

  test('the owners and the supply of a followed ERC-1155 collection stay correct through transfers, burns and a reorganisation', async () => {
    chain.mine([mint('1', ANN, 5n), mint('2', ANN)]);
    await settle();
    assert.deepEqual(await figures(), chainFigures(2, 1));
    chain.mine([move('1', ANN, BEN, 2n), move('1', ANN, COY, 1n)]);
    await settle();
    assert.deepEqual(await figures(), chainFigures(2, 3));
    chain.mine([move('1', COY, BEN), move('2', ANN, ZERO_ADDRESS)]);
    await settle();
    assert.deepEqual(await figures(), chainFigures(1, 2));
    chain.rollBack(2);
    for (const tokenId of ['3', '4', '5']) chain.mine([mint(tokenId, BEN)]);
    await settle();
    assert.deepEqual(await figures(), chainFigures(5, 2));
  });

  test('each wallet has every edition of which it holds units, with its balance, and a token has all its owners', async () => {
    const { market } = context;
    const walletOf = async (account: Address, limit = 10) => {
      const query = { account, chain: ethereum, limit };
      const held = await listWalletTokens(market, { ...query, after: null });
      const rest = held.next ? await listWalletTokens(market, { ...query, after: held.next }) : null;
      return [...held.rows, ...(rest?.rows ?? [])].map(({ asset, balance }) => [asset, balance]);
    };
    const inCollection = async (owner: Address) => {
      const location = { chain: ethereum, contractAddress: CONTRACT, collectionId: COLLECTION };
      const unfiltered = { listed: null, traits: new Map(), source: null, price: null, rank: null, text: null };
      const query = { ...unfiltered, sort: 'id' as const, owner, after: null, limit: 10 };
      return (await listTokens(market, location, query)).tokens.map(({ asset, balance }) => [asset, balance]);
    };
    const ownersOf = async (asset: string) => {
      const location = { chain: ethereum, contractAddress: CONTRACT, asset: asset as AssetId };
      const found: unknown[] = [];
      for (let after: string | null = null; ;) {
        const page: OwnersPage = await readTokenOwners(market, location, { after, limit: 1 });
        found.push(...page.owners.map(({ address, balance }) => [address, balance]));
        if (page.next === null) return found;
        after = page.next;
      }
    };
    chain.mine([mint('1', ANN, 5n), mint('2', ANN, 3n), mint('3', BEN)]);
    chain.mine([move('1', ANN, BEN, 2n), move('1', ANN, COY), move('2', ANN, COY, 3n)]);
    await settle();
    const expected = [
      [ANN, [['1', 2n]]],
      [
        BEN,
        [
          ['1', 2n],
          ['3', 1n],
        ],
      ],
      [
        COY,
        [
          ['1', 1n],
          ['2', 3n],
        ],
      ],
    ] as const;
    for (const [account, held] of expected) {
      assert.deepEqual(await walletOf(account), held);
      assert.deepEqual(await walletOf(account, 1), held);
      assert.deepEqual(await inCollection(account), held);
    }
    const owners = [
      [ANN, 2n],
      [BEN, 2n],
      [COY, 1n],
    ];
    assert.deepEqual(
      await ownersOf('1'),
      owners.toSorted(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1)),
    );
    chain.rollBack(1);
    chain.mine([]);
    await settle();
    assert.deepEqual(await ownersOf('1'), [[ANN, 5n]]);
    assert.deepEqual(await walletOf(COY), []);
  });

  test('the changes of editions have their units, the price of one unit and of all, other currencies, and the tokens of a bundle', async () => {
    const usd = `0x${'dd'.repeat(20)}` as Address;
    const fill = (name: string, sold: readonly [id: bigint, units: bigint][], [token, amount]: [Address, bigint]) => ({
      kind: 'order-fulfilled' as const,
      protocol: PROTOCOL,
      orderHash: toEvmHash(name) as Hex,
      offerer: ANN,
      zone: ZERO_ADDRESS,
      recipient: BEN,
      offer: sold.map(([identifier, units]) => ({
        itemType: ITEM_TYPE.erc1155,
        token: CONTRACT,
        identifier,
        amount: units,
      })),
      consideration: [
        {
          itemType: token === ZERO_ADDRESS ? ITEM_TYPE.native : ITEM_TYPE.erc20,
          token,
          identifier: 0n,
          amount,
          recipient: ANN,
        },
      ],
    });
    chain.mine([mint('1', ANN, 9n), mint('2', ANN, 9n)]);
    await settle();
    chain.mine([fill('several', [[1n, 4n]], [ZERO_ADDRESS, 10n]), move('1', ANN, BEN, 4n)]);
    chain.mine([fill('in dollars', [[1n, 2n]], [usd, 7n]), move('1', ANN, BEN, 2n)]);
    const bundle = [
      [1n, 1n],
      [2n, 3n],
    ] as const;
    chain.mine([
      fill(
        'bundle',
        bundle.map(([id, units]) => [id, units]),
        [ZERO_ADDRESS, 20n],
      ),
    ]);
    await settle();
    await mergeChanges({ ...context, main: db, indexer: db }, { timeoutMs: 60_000, batchesMax: 100 });
    const filter = { chain: null, collectionId: COLLECTION, asset: null, account: null };
    const listed = async (kinds: readonly ('sale' | 'transfer')[]) => {
      const prices = await readPriceContext(context.market);
      const { rows } = await readActivity(context.market, { ...filter, kinds }, { after: NEWEST, limit: 20 });
      return rows.toReversed().map((row) => toWireActivity(context.market, row, { prices, token: null }));
    };
    const sales = await listed(['sale']);
    assert.deepEqual(
      sales.map(({ tokenId, quantity, price, total, currency, amount, tokens }) => [
        [tokenId, quantity, price?.raw ?? null, total?.raw ?? null, currency, amount],
        tokens?.map((token) => [token.tokenId, token.quantity]) ?? null,
      ]),
      [
        [['1', '4', '2', '10', null, null], null],
        [['1', '2', null, null, usd, '7'], null],
        [
          [null, null, '20', '20', null, null],
          [
            ['1', '1'],
            ['2', '3'],
          ],
        ],
      ],
    );
    assert.ok(sales.every(({ block, logIndex }) => block !== null && logIndex !== null));
    const transfers = await listed(['transfer']);
    assert.deepEqual(
      transfers.map(({ quantity, price }) => [quantity, price]),
      [
        ['4', null],
        ['2', null],
      ],
    );
  });

  for (const standard of ['erc721', 'erc1155'] as const) {
    test(`a followed collection does not count the owners that a marketplace reports for its ${standard} tokens`, async () => {
      await follow(standard);
      chain.mine([mint('1', ANN), mint('2', BEN)]);
      await settle();
      await ingest(db, token({ contractAddress: CONTRACT, tokenId: '9', owner: COY }));
      await settle();
      assert.deepEqual(await figures(), chainFigures(2, 2));
      const operations = createCollectionOperations({ ...context, onFollowed: async () => undefined });
      await operations['collections.remove']({ id: COLLECTION });
      await settle();
      assert.deepEqual(await figures(), [null, null]);
      const [row] = await db.query(`select has_chain_holders, holders::int from indexer.collection_figures`);
      assert.deepEqual(row, { has_chain_holders: false, holders: 3 });
    });
  }

  test('a followed collection gets its owners even if its blocks were read before the service counted owners from chains', async () => {
    chain.mine([mint('1', ANN, 5n), mint('1', BEN)]);
    await settle();
    await db.query(`update indexer.collection_figures set has_chain_holders = false, holders = 0`);
    await db.query(`delete from indexer.holder`);
    await db.query(`delete from indexer.coverage where subject = 'owners'`);
    assert.deepEqual(await figures(), [[1, 'chain'], null]);
    await settle();
    assert.deepEqual(await figures(), chainFigures(1, 2));
  });

  test('a followed collection is ranked by its volume again when its chain is read after an outage of more than a day', async () => {
    const volumeKey = async () => {
      const [row] = await db.query(`select volume_rank::text as key from indexer.collection_figures`);
      return row?.['key'];
    };
    chain.mine([mint('1', ANN)]);
    chain.mine([
      {
        kind: 'order-fulfilled',
        protocol: PROTOCOL,
        orderHash: toEvmHash('order') as Hex,
        offerer: ANN,
        zone: ZERO_ADDRESS,
        recipient: BEN,
        offer: [{ itemType: ITEM_TYPE.erc1155, token: CONTRACT, identifier: 1n, amount: 1n }],
        consideration: [
          { itemType: ITEM_TYPE.native, token: ZERO_ADDRESS, identifier: 0n, amount: 10n ** 18n, recipient: ANN },
        ],
      },
      move('1', ANN, BEN),
    ]);
    await settle();
    assert.equal(await volumeKey(), '1');
    now += 25 * HOUR_MS;
    await sweepExpired(context);
    assert.equal(await volumeKey(), '-Infinity');
    chain.skip(25 * HOUR_MS);
    chain.mine();
    await settle();
    assert.equal(await volumeKey(), '1');
  });
});
