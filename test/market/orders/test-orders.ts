// Submits orders to a test database. A test chooses the results of the chain calls, and stores evidence with the queries of the chain
// follower.

import { before, beforeEach } from 'node:test';
import type { LoggedEvent } from '../../../src/market/chain-log/chain-event.ts';
import { updateOperatorApprovals } from '../../../src/market/chain-log/queries/approvals.ts';
import { insertChainCursor } from '../../../src/market/chain-log/queries/chain-cursors.ts';
import { insertChainEvents } from '../../../src/market/chain-log/queries/chain-events.ts';
import { updateHoldings } from '../../../src/market/chain-log/queries/holdings.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import type { Chain } from '../../../src/platform/core/chains.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Hex, TokenStandard } from '../../../src/platform/core/evm.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { updateFollowProgress, upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import { OrderRejected } from '../../../src/market/orders/rejection.ts';
import type { SeaportOrder } from '../../../src/market/orders/seaport/order.ts';
import type { ChainChecks } from '../../../src/market/orders/signatures.ts';
import type { OrderContext } from '../../../src/market/orders/submit.ts';
import { submitOrder } from '../../../src/market/orders/submit.ts';
import type { SubmittedCriteria } from '../../../src/market/orders/token-sets.ts';
import type { AskOptions, BidOptions } from '../../support/chain/signed-orders.ts';
import { accountOf, SEAPORT_1_6, signOrder, toAsk, toBid, toParameters } from '../../support/chain/signed-orders.ts';
import type { TestEngine } from '../../support/engines/each-engine.ts';
import { EVM, NOW } from '../../support/service/intake.ts';

export const chains = createChains();
export const ethereum = chains.get('ethereum') as Chain;
export const OFFERER = accountOf(1).lower;
export const COLLECTION = `ethereum_${EVM}`;
/** The start time of the test orders, in seconds as in Seaport orders. */
export const START = NOW / 1_000 - 60;
/** In seconds. */
export const HOUR = 3_600;

/** Results of chain calls with which an order passes the checks. Contract signatures are not accepted. */
const PASSING_CHECKS: ChainChecks = {
  isValidSignature: async () => false,
  getCounter: async () => 0n,
  getOrderStatus: async () => ({ cancelled: false, totalFilled: 0n, totalSize: 0n }),
  funds: async (_currency, keys) => keys.map(() => ({ balance: 10n ** 20n, allowance: 10n ** 20n })),
};

export const ask = (more: Partial<AskOptions> = {}, components: Partial<SeaportOrder> = {}) =>
  toAsk(
    { offerer: OFFERER, contract: EVM, tokenId: 1n, price: 1_000n, start: START, end: START + HOUR, ...more },
    components,
  );

export const WETH = ethereum.wrappedNative ?? '';

/** A bid of 1,000 for token 1. */
export const bid = (more: Partial<BidOptions> = {}, components: Partial<SeaportOrder> = {}) =>
  toBid(
    {
      offerer: OFFERER,
      contract: EVM,
      wanted: { tokenId: 1n },
      currency: WETH,
      price: 1_000n,
      start: START,
      end: START + HOUR,
      ...more,
    },
    components,
  );

/** `accepted`, or the code with which the order was rejected. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'accepted';
  } catch (error) {
    if (error instanceof OrderRejected) return error.code;
    throw error;
  }
}

const TX: Hex = `0x${'cd'.repeat(32)}`;

/** The fields that all test events share. The events are in block 90 and differ by their log index. */
export const eventAt = (logIndex: number) => ({
  blockNumber: 90,
  blockTime: NOW - 120_000,
  tx: TX,
  logIndex,
  part: 0,
  protocol: SEAPORT_1_6.address,
  offerer: OFFERER,
});

/** A database whose orders, evidence and follows are deleted before each test. */
export class TestOrders {
  /** The collections that were reported as changed. */
  changed: string[] = [];
  #db: Database | null = null;

  constructor(engine: TestEngine) {
    before(async () => {
      this.#db = await engine.open();
    });
    beforeEach(async () => {
      this.changed = [];
      await this.db.query(
        `truncate main.book_order, main.order_cancel, main.chain_cursor, main.chain_event, main.holding,
           main.operator_approval, main.token_approval, main.offerer_counter, main.follow, main.book_asset,
           main.collection_book, main.book_start, main.catalog_change, main.market_change, main.funds,
           main.token_set, main.token_set_member cascade`,
      );
    });
  }

  get db(): Database {
    if (!this.#db) throw new Error('the database is not open: use it only in tests and hooks');
    return this.#db;
  }

  /** If `checks` is null, the chain has no endpoint. Otherwise `checks` replaces results of PASSING_CHECKS. */
  contextOf(checks: Partial<ChainChecks> | null, now = NOW): OrderContext {
    const { db } = this;
    return {
      main: db,
      chains,
      clock: () => now,
      seaport: new Map(),
      checksOf: () => checks && { ...PASSING_CHECKS, ...checks },
      retireMirroredListings: () => Promise.resolve(),
      listTokensWithTraits: () => Promise.resolve([]),
      copyCatalog: () => Promise.resolve(),
      onChanged: ({ collectionIds }) => this.changed.push(...collectionIds),
    };
  }

  get offline(): OrderContext {
    return this.contextOf(null);
  }

  submit(
    context: OrderContext,
    order: SeaportOrder,
    signature: string,
    {
      protocolAddress = null,
      criteria = null,
    }: { protocolAddress?: string | null; criteria?: SubmittedCriteria | null } = {},
  ) {
    const parameters = toParameters(order);
    return submitOrder(context, { chain: ethereum, protocolAddress, order: { parameters, signature }, criteria });
  }

  async submitSigned(context: OrderContext, order = ask(), criteria: SubmittedCriteria | null = null) {
    return this.submit(context, order, await signOrder(1, order), { criteria });
  }

  async count(): Promise<number> {
    const [row] = await this.db.query('select count(*) as n from main.book_order');
    return Number(row?.['n']);
  }

  /** Follows the collection, with its backfill complete. By default the offerer holds token 1 and has approved Seaport. */
  async follow({
    held = 1n,
    approved = true,
    standard = 'erc721',
  }: { held?: bigint; approved?: boolean; standard?: TokenStandard } = {}): Promise<void> {
    const hash: Hex = `0x${'ab'.repeat(32)}`;
    await insertChainCursor(this.db, 'ethereum', { number: 100, hash, time: NOW - 12_000 }, NOW);
    await upsertFollow(this.db, {
      collectionId: COLLECTION,
      chain: 'ethereum',
      contractAddress: EVM as Address,
      standard,
      fromBlock: 1,
      names: new Map(),
      createdAt: NOW,
    });
    await updateFollowProgress(this.db, COLLECTION, { readToBlock: 100, joined: true });
    await this.changeBalance(held);
    await this.approve(SEAPORT_1_6.address, approved);
  }

  /** Adds to the offerer's balance of token 1. */
  changeBalance(quantity: bigint): Promise<void> {
    return updateHoldings(this.db, [{ collectionId: COLLECTION, tokenId: '1', holder: OFFERER, quantity }]);
  }

  approve(operator: string, approved = true): Promise<void> {
    const approval = { collectionId: COLLECTION, contract: EVM, owner: OFFERER, operator, approved };
    return updateOperatorApprovals(this.db, [approval]);
  }

  async insertEvent(event: LoggedEvent): Promise<void> {
    await insertChainEvents(this.db, 'ethereum', [event]);
  }
}
