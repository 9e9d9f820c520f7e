// All writers of maintained figures run at the same time. At the end every figure must equal a count. The writers are: a chain with
// reorganisations, its projection in two processes, imports, complete lists of listings from a marketplace, cancels, expiries and copies of the catalog.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { backfillOnce } from '../../../src/sources/chains/backfill.ts';
import { projectAndCover } from '../../../src/sources/chains/coverage.ts';
import type { FollowContext } from '../../../src/sources/chains/follower.ts';
import { followOnce } from '../../../src/sources/chains/follower.ts';
import { SEAPORT } from '../../../src/sources/chains/protocols/seaport.ts';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Hex, TokenStandard } from '../../../src/platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';
import { ITEM_TYPE } from '../../../src/platform/core/seaport.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import type { ServiceContext } from '../../../src/service/context.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import { copyCatalog } from '../../../src/market/index/catalog.ts';
import { applyListingSnapshot } from '../../../src/market/index/listing-snapshot.ts';
import { recountFigures } from '../../../src/market/index/recount.ts';
import { lockChainsAndBooks } from '../../../src/market/orders/book.ts';
import { cancelOrder } from '../../../src/market/orders/cancel.ts';
import { evaluateOrders } from '../../../src/market/orders/evaluate.ts';
import { refreshBookAssets } from '../../../src/market/orders/queries/book-figures.ts';
import { insertSignedOrder } from '../../../src/market/orders/queries/stored-orders.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { Random, toEvmAddress, toEvmHash } from '../../../sample/random.ts';
import { outcomeOf } from '../../market/orders/test-orders.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import type { ScriptedEvent } from '../../support/chain/scripted-chain.ts';
import { ScriptedChain } from '../../support/chain/scripted-chain.ts';
import { NOW, collection, listing, runImport, sale, toContext, toNdjson, token } from '../../support/service/intake.ts';

const CHAINS = createChains();
const ethereum = CHAINS.get('ethereum') ?? assert.fail();
const SECOND = 1_000;
/** By this time, everything that can expire in the test has expired. */
const LATER = NOW + 60 * 60 * SECOND;
const ALL = { timeoutMs: 30_000, batchesMax: 100 };
const PROTOCOL = '0x0000000000000068f116a894984e2db1123eb395' as Address;
const PEOPLE = [1, 2, 3, 4].map((number) => toEvmAddress(`person ${number}`));
const TOKENS = 8;
/**
 * Own orders and mirrored listings take their order hashes from the numbers 1 to `ORDERS`. Events of the chain use the first half
 * of these numbers, so that they end only a part of the orders and listings.
 */
const ORDERS = 60;
const CONTRACTS: readonly (readonly [Address, TokenStandard])[] = [
  [toEvmAddress('first lamps'), 'erc721'],
  [toEvmAddress('second lamps'), 'erc721'],
  [toEvmAddress('editions'), 'erc1155'],
];
const idOf = (contract: string) => `ethereum_${contract}`;
const at = (ms: number) => new Date(NOW + ms).toISOString();
const orderHash = (number: number) => toEvmHash(`order ${number}`) as Hex;

forEachEngine('figures of followed collections', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });

  test('when the events of a chain and other writes are stored at the same time, every figure equals a count', async (t) => {
    const random = new Random('writers', engine.name);
    let now = NOW;
    const context = toContext(db, { clock: () => now });
    const world = new RandomWorld(random);
    await load(
      context,
      ...CONTRACTS.map(([contractAddress]) =>
        collection({ contractAddress, slug: `lamps-${contractAddress.slice(-6)}` }),
      ),
    );
    for (const [contractAddress, standard] of CONTRACTS) {
      const followed = { collectionId: idOf(contractAddress), chain: 'ethereum', contractAddress, standard };
      await upsertFollow(db, { ...followed, fromBlock: 0, names: new Map(), createdAt: NOW });
    }
    const { reader } = world.chain;
    const follower: FollowContext = { ...context, reader, protocols: new Map([[PROTOCOL, SEAPORT]]) };
    const projection = { ...context, chain: ethereum };
    const follow = async () => {
      while ((await followOnce(follower)).more || (await backfillOnce(follower)).more);
    };

    const chainDone = new AbortController();
    const chain = async () => {
      for (let step = 0; step < 32; step += 1) {
        if (step % 8 === 7) world.reorganise();
        else world.mine();
        await follow();
      }
      chainDone.abort();
    };
    const project = async () => {
      while (!chainDone.signal.aborted) {
        await projectAndCover(projection);
        await new Promise(setImmediate);
      }
    };
    const write = async (writer: number) => {
      const own = new Random('writer', engine.name, String(writer));
      for (let step = 0; step < 24; step += 1) {
        await writeAtRandom(context, own);
        now = Math.max(now, NOW + own.integer(0, 30) * SECOND);
      }
    };
    await Promise.all([chain(), project(), project(), write(0), write(1)]);

    const settle = async () => {
      await follow();
      while (await projectAndCover(projection));
      await sweepExpired(context);
      await copyCatalog(context, ALL);
    };
    // By now every order and listing may have ended. New orders and listings make some figures more than zero.
    const last = new Random('last', engine.name);
    for (let orders = 0; orders < 20; orders += 1) {
      const [contractAddress, standard] = last.pick(CONTRACTS);
      await insertOrder(context, last, { contractAddress, standard });
    }
    await load(context, ...Array.from({ length: 40 }, () => randomListing(last)));
    const recount = () => recountFigures(context, { prefix: '', now, limit: 10 });
    await settle();
    assert.deepEqual(await recount(), []);
    const [counts] = await db.query(
      `select (select count(*)::int from main.chain_reorg) as reorganisations,
         (select count(*)::int from indexer.sale where block_number is not null) as fills,
         (select count(*)::int from indexer.listing where tx is not null) as ended,
         (select count(*)::int from indexer.listing where dormant is not null) as dormant,
         (select count(*)::int from indexer.listed_asset) as listed, (select count(*)::int from main.book_asset) as own,
         (select count(*)::int from main.chain_event where kind = 'order-cancelled') as cancels,
         (select count(*)::int from indexer.holder where collection_id = '${idOf(CONTRACTS[2]?.[0] ?? '')}') as holders`,
    );
    t.diagnostic(JSON.stringify(counts));
    for (const [what, count] of Object.entries(counts ?? {}))
      assert.ok(Number(count) > 0, `"${what}" has no rows to count`);
    now = LATER;
    await settle();
    assert.deepEqual(await recount(), []);
  });
});

/** A chain of random, valid transactions: an account transfers or sells only tokens that it holds. */
class RandomWorld {
  readonly chain = new ScriptedChain(ethereum, NOW - 100 * SECOND);
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
    const approvals = CONTRACTS.flatMap(([contract]) =>
      PEOPLE.map((owner): ScriptedEvent => approval(contract, owner, true)),
    );
    this.chain.mine(approvals);
    for (let blocks = 0; blocks < 5; blocks += 1) this.mine();
  }

  /**
   * Adds a block. No two transactions of a block concern the same token. So each transaction is valid in the state before the
   * block.
   */
  mine(): void {
    const transactions = new Map<string, ScriptedEvent[]>();
    for (let count = this.#random.integer(1, 5); count > 0; count -= 1) {
      const [contract, standard] = this.#random.pick(CONTRACTS);
      const tokenId = String(this.#random.integer(1, TOKENS)) as AssetId;
      transactions.set(`${contract} ${tokenId}`, this.#transact(contract, standard, tokenId));
    }
    this.chain.mine(...transactions.values());
  }

  /** Removes one to four blocks and adds one block more than it removed. */
  reorganise(): void {
    const depth = this.#random.integer(1, 4);
    this.chain.rollBack(depth);
    for (let blocks = 0; blocks <= depth; blocks += 1) this.mine();
  }

  #transact(contract: Address, standard: TokenStandard, tokenId: AssetId): ScriptedEvent[] {
    const random = this.#random;
    const holders = [...this.#holders(contract, tokenId)].filter(([, units]) => units > 0n);
    const person = random.pick(PEOPLE);
    const move = (from: Address, to: Address, quantity = 1n): ScriptedEvent => ({
      kind: 'transfer',
      contract,
      tokenId,
      from,
      to,
      quantity,
    });
    const isMint = holders.length === 0 || (standard === 'erc1155' && random.boolean(0.3));
    if (isMint) return [move(ZERO_ADDRESS, person, standard === 'erc1155' ? BigInt(random.integer(1, 3)) : 1n)];
    const [holder] = random.pick(holders);
    // Events of the chain can end only half of the orders.
    const number = random.integer(1, ORDERS / 2);
    switch (random.integer(0, 6)) {
      case 0:
        return [move(holder, random.boolean(0.2) ? ZERO_ADDRESS : person)];
      case 1:
        return [approval(contract, holder, random.boolean(0.9))];
      case 2:
        return [{ kind: 'order-cancelled', protocol: PROTOCOL, orderHash: orderHash(number), offerer: holder }];
      case 3:
        return [move(holder, person)];
      default:
        return [
          toFill({ contract, standard, tokenId, number, offerer: holder, recipient: person }),
          move(holder, person),
        ];
    }
  }

  #holders(contract: Address, tokenId: string): Map<Address, bigint> {
    const holders = new Map<Address, bigint>();
    for (const event of this.chain.events()) {
      if (event.kind !== 'transfer' || event.contract !== contract || event.tokenId !== tokenId) continue;
      holders.set(event.from, (holders.get(event.from) ?? 0n) - event.quantity);
      holders.set(event.to, (holders.get(event.to) ?? 0n) + event.quantity);
    }
    holders.delete(ZERO_ADDRESS);
    return holders;
  }
}

const approval = (contract: Address, owner: Address, approved: boolean): ScriptedEvent => ({
  kind: 'approval-for-all',
  contract,
  owner,
  operator: PROTOCOL,
  approved,
});

type Fill = {
  contract: Address;
  standard: TokenStandard;
  tokenId: string;
  number: number;
  offerer: Address;
  recipient: Address;
};

function toFill({ contract, standard, tokenId, number, offerer, recipient }: Fill): ScriptedEvent {
  const payment = { itemType: ITEM_TYPE.native, token: ZERO_ADDRESS, identifier: 0n, amount: BigInt(number) };
  return {
    kind: 'order-fulfilled',
    protocol: PROTOCOL,
    orderHash: orderHash(number),
    offerer,
    zone: ZERO_ADDRESS,
    recipient,
    offer: [{ itemType: ITEM_TYPE[standard], token: contract, identifier: BigInt(tokenId), amount: 1n }],
    consideration: [{ ...payment, recipient: offerer }],
  };
}

async function load(context: ServiceContext, ...records: unknown[]): Promise<void> {
  const { refused } = await runImport(context, toNdjson(records));
  assert.deepEqual(refused, []);
}

/** One random change that does not come from the chain. */
async function writeAtRandom(context: ServiceContext, random: Random): Promise<void> {
  const [contractAddress, standard] = random.pick(CONTRACTS);
  const collectionId = idOf(contractAddress);
  switch (random.integer(0, 6)) {
    case 0:
      await load(context, ...repeat(random, () => randomListing(random)));
      break;
    case 1:
      await load(context, ...repeat(random, () => randomToken(random)), ...repeat(random, () => randomSale(random)));
      break;
    case 2:
    case 6:
      await insertOrder(context, random, { contractAddress, standard });
      break;
    case 3: {
      const [found] = await context.main.query<{ id: string }>(
        `select id from main.book_order where status = 'active' order by id offset $1 limit 1`,
        [random.integer(0, 5)],
      );
      const canceller = { ...context, checksOf: () => null };
      if (found) await outcomeOf(cancelOrder(canceller, found.id, { cancelledBy: 'operator' }));
      break;
    }
    case 4: {
      const below = BigInt(random.integer(1, 40));
      const snapshot = { source: 'opensea', collectionId, keys: [], listedBefore: NOW, takenAt: NOW, below };
      const limits = { smallBookMax: 1_000, shareLeftMin: 0, doubtsMin: 1, doubtMs: 0 };
      await applyListingSnapshot(context, snapshot, limits);
      break;
    }
    default:
      await sweepExpired(context);
      await context.copyCatalog();
  }
}

/** Stores a signed order without checking the signature. */
async function insertOrder(
  { main, clock, copyCatalog: copy }: ServiceContext,
  random: Random,
  { contractAddress, standard }: { contractAddress: Address; standard: TokenStandard },
): Promise<void> {
  const number = random.integer(1, ORDERS);
  const collectionId = idOf(contractAddress);
  const held = await main.query<{ asset: AssetId; seller: Address }>(
    `select token_id as asset, holder as seller from main.holding where collection_id = $1 order by 1, 2`,
    [collectionId],
  );
  if (held.length === 0) return;
  const { asset, seller } = random.pick(held);
  const orderId = `${collectionId}_${asset}_${number}`;
  const raw = BigInt(random.integer(1, 60));
  const now = clock();
  const order = { orderId, collectionId, chain: 'ethereum', contractAddress, asset, raw, createdAt: now };
  await main.transaction(async (tx) => {
    await lockChainsAndBooks(tx, [order]);
    await insertSignedOrder(
      tx,
      {
        ...order,
        side: 'ask',
        proceeds: null,
        root: null,
        currency: null,
        seller,
        startsAt: now + random.integer(-10, 10) * SECOND,
        expiresAt: now + random.integer(11, 600) * SECOND,
        seaport: { parameters: {}, signature: '0x' },
        orderHash: orderHash(number),
        protocolAddress: PROTOCOL,
        orderType: 0,
        standard,
        quantity: 1n,
        buyerTotalRaw: raw,
        counter: 0n,
        operator: PROTOCOL,
      },
      now,
    );
    await evaluateOrders(tx, [orderId], now);
    await refreshBookAssets(tx, [{ collectionId, asset }], now);
  });
  await copy();
}

const repeat = <T>(random: Random, make: () => T): T[] => Array.from({ length: random.integer(1, 8) }, make);
const randomPlace = (random: Random) => ({
  contractAddress: random.pick(CONTRACTS)[0],
  tokenId: String(random.integer(1, TOKENS)),
});

function randomListing(random: Random): object {
  const number = random.integer(1, ORDERS);
  const place = randomPlace(random);
  const source = random.pick(['opensea', 'magic-eden']);
  return listing({
    ...place,
    id: `${place.contractAddress} ${place.tokenId} ${number}`,
    source,
    priceRaw: String(random.integer(1, 60)),
    seller: random.pick(PEOPLE),
    timestamp: at(-random.integer(1, 1_000)),
    status: random.boolean(0.9) ? 'active' : 'cancelled',
    ...(random.boolean(0.8) && {
      orderHash: orderHash(number),
      counter: '0',
      operator: PROTOCOL,
      protocolAddress: PROTOCOL,
    }),
    ...(random.boolean(0.5) && { expiresAt: at(random.integer(1, 600) * SECOND) }),
  });
}

const randomToken = (random: Random) =>
  token({
    ...randomPlace(random),
    ...(random.boolean(0.5) && { name: `Lamp ${random.integer(1, 3)}` }),
    ...(random.boolean(0.5) && { owner: random.pick(PEOPLE) }),
  });

const randomSale = (random: Random) =>
  sale({
    ...randomPlace(random),
    price: String(random.integer(0, 60)),
    timestamp: at(-random.integer(1, 100) * 60 * SECOND),
    seller: random.pick(PEOPLE),
  });
