// Signed orders as they are taken in: by whom they were signed, and on followed collections by what the chain has told.

import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import { findChainCursor, insertChainCursor } from '../../src/chain-log/queries/chain-cursors.ts';
import { insertChainEvents } from '../../src/chain-log/queries/chain-events.ts';
import type { Database } from '../../src/database/port.ts';
import { updateFollowProgress, upsertFollow } from '../../src/follows/queries/follows.ts';
import { updateCounters, updateOperatorApprovals } from '../../src/chain-log/queries/approvals.ts';
import { updateHoldings } from '../../src/chain-log/queries/holdings.ts';
import type { Address, AssetId } from '../../src/core/address.ts';
import type { ChainEvent } from '../../src/chain-log/chain-event.ts';
import type { Chain } from '../../src/core/chains.ts';
import { createChains } from '../../src/core/chains.ts';
import { cancelDigest } from '../../src/orders/seaport/cancel.ts';
import type { SeaportOrder } from '../../src/orders/seaport/order.ts';
import { hashOrder, orderDigest } from '../../src/orders/seaport/order.ts';
import { cancelOrder } from '../../src/orders/cancel.ts';
import { explainOrder } from '../../src/orders/explain.ts';
import { OrderRejected } from '../../src/orders/rejection.ts';
import type { ChainChecks } from '../../src/orders/signatures.ts';
import type { OrderContext } from '../../src/orders/submit.ts';
import { submitOrder } from '../../src/orders/submit.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { until } from '../support/until.ts';
import { EVM, NOW, order as orderRecord, runImport, toContext, toNdjson } from '../support/service/intake.ts';
import type { AskOptions } from '../support/chain/signed-orders.ts';
import {
  accountOf,
  SEAPORT_1_6,
  signBulk,
  signOrder,
  toAsk,
  toCompact,
  toParameters,
} from '../support/chain/signed-orders.ts';
import type { Hex } from '../../src/core/evm.ts';

const chains = createChains();
const ethereum = chains.get('ethereum') as Chain;
const OFFERER = accountOf(1).lower;
const COLLECTION = `ethereum_${EVM}`;
const START = NOW / 1_000 - 60;
const HOUR = 3_600;
const TX: Hex = `0x${'cd'.repeat(32)}`;

/** What the chain says when it is asked: nothing of note, unless a test has it say something. */
const QUIET: ChainChecks = {
  isValidSignature: async () => false,
  getCounter: async () => 0n,
  getOrderStatus: async () => ({ cancelled: false, totalFilled: 0n, totalSize: 0n }),
};

const ask = (more: Partial<AskOptions> = {}, components: Partial<SeaportOrder> = {}) =>
  toAsk(
    { offerer: OFFERER, contract: EVM, tokenId: 1n, price: 1_000n, start: START, end: START + HOUR, ...more },
    components,
  );

forEachEngine('signed orders', (engine) => {
  let db: Database;
  let changed: string[] = [];
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    changed = [];
    await db.query(
      `truncate main.book_order, main.order_cancel, main.chain_cursor, main.chain_event, main.holding,
         main.operator_approval, main.token_approval, main.offerer_counter, main.follow cascade`,
    );
  });

  const contextOf = (checks: Partial<ChainChecks> | null, now = NOW): OrderContext => ({
    get main() {
      return db;
    },
    chains,
    clock: () => now,
    seaport: new Map(),
    checksOf: () => checks && { ...QUIET, ...checks },
    retireMirroredListings: () => Promise.resolve(),
    onChanged: ({ collectionIds }) => changed.push(...collectionIds),
  });
  const offline = contextOf(null);
  const submit = (
    context: OrderContext,
    order: SeaportOrder,
    signature: string,
    protocolAddress: string | null = null,
  ) =>
    submitOrder(context, { chain: ethereum, protocolAddress, order: { parameters: toParameters(order), signature } });
  const submitSigned = async (context: OrderContext, order = ask()) =>
    submit(context, order, await signOrder(1, order));
  const codeOf = async (work: Promise<unknown>): Promise<string> => {
    try {
      await work;
      return 'taken';
    } catch (error) {
      if (error instanceof OrderRejected) return error.code;
      throw error;
    }
  };
  const countOrders = async () => Number((await db.query('select count(*) as n from main.book_order'))[0]?.['n']);

  /** The collection followed and joined; the offerer holds token 1, approved for Seaport, unless told otherwise. */
  const follow = async ({ held = 1n, approved = true }: { held?: bigint; approved?: boolean } = {}) => {
    const hash: Hex = `0x${'ab'.repeat(32)}`;
    await insertChainCursor(db, 'ethereum', { number: 100, hash, time: NOW - 12_000 }, NOW);
    await upsertFollow(db, {
      collectionId: COLLECTION,
      chain: 'ethereum',
      contractAddress: EVM as Address,
      standard: 'erc721',
      fromBlock: 1,
      names: new Map(),
      createdAt: NOW,
    });
    await updateFollowProgress(db, COLLECTION, { readToBlock: 100, joined: true });
    await updateHoldings(db, [{ collectionId: COLLECTION, tokenId: '1', holder: OFFERER, quantity: held }]);
    const word = { collectionId: COLLECTION, contract: EVM, owner: OFFERER, operator: SEAPORT_1_6.address };
    await updateOperatorApprovals(db, [{ ...word, approved }]);
  };
  const place = (logIndex: number) => ({
    blockNumber: 90,
    blockTime: NOW - 120_000,
    tx: TX,
    logIndex,
    part: 0,
    protocol: SEAPORT_1_6.address,
    offerer: OFFERER,
  });
  const tell = (event: ChainEvent) => insertChainEvents(db, 'ethereum', [event]);

  describe('without an endpoint', () => {
    test('an order is taken on its signature alone, in each form, and says what it binds', async () => {
      const full = ask({ fees: [{ recipient: accountOf(9).lower, amount: 30n }] });
      const taken = await submitSigned(offline, full);
      assert.equal(taken.orderId, `ethereum_${EVM}_1_${NOW}`);
      assert.deepEqual([taken.raw, taken.buyerTotalRaw, taken.seller], [1_000n, 1_030n, OFFERER]);
      assert.equal(taken.orderHash, hashOrder(full));
      assert.equal(taken.protocolAddress, SEAPORT_1_6.address);
      const compact = ask();
      await submit(offline, compact, toCompact(await signOrder(1, compact)));
      const bulk = [ask(), ask({ tokenId: 2n })] as const;
      for (const [index, signature] of (await signBulk(1, bulk, { height: 1 })).entries()) {
        await submit(offline, bulk[index] ?? ask(), signature);
      }
      assert.equal(await countOrders(), 4);
      assert.deepEqual(new Set(changed), new Set([COLLECTION]));
    });

    test('the deployment is told by the signature, or has to be the one that is named', async () => {
      const order = ask();
      const old = { ...SEAPORT_1_6, version: '1.5', address: '0x00000000000000adc04c56bf30ac9d3c0aaf14dc' as Address };
      const signature = await signOrder(1, order, old);
      assert.equal(await codeOf(submit(offline, order, signature, SEAPORT_1_6.address)), 'signature_invalid');
      assert.equal(await codeOf(submit(offline, order, signature, EVM)), 'unknown_protocol');
      assert.equal(
        (await submit(offline, order, signature, old.address.toUpperCase().replace('0X', '0x'))).protocolAddress,
        old.address,
      );
    });

    test('what cannot be read, is no listing, or is not signed by its offerer is refused and leaves nothing', async () => {
      const signature = await signOrder(1, ask());
      const raw = (order: unknown) =>
        codeOf(submitOrder(offline, { chain: ethereum, protocolAddress: null, order: order as never }));
      assert.equal(await raw({ parameters: {}, signature }), 'malformed_order');
      assert.equal(await raw({ parameters: toParameters(ask()), signature: 'no' }), 'malformed_order');
      assert.equal(await codeOf(submit(offline, ask(), signature)), 'signature_invalid');
      assert.equal(await codeOf(submit(offline, ask(), `0x${'ab'.repeat(200)}`)), 'signature_unverifiable');
      assert.equal(await codeOf(submitSigned(offline, ask({ price: 0n }))), 'price_not_positive');
      assert.equal(await codeOf(submitSigned(offline, ask({ end: START + 60 }))), 'expired');
      const solana = { chain: chains.get('solana') as Chain, protocolAddress: null };
      const order = { parameters: toParameters(ask()), signature };
      assert.equal(await codeOf(submitOrder(offline, { ...solana, order })), 'unknown_protocol');
      assert.equal(await countOrders(), 0);
      assert.deepEqual(changed, []);
    });

    test('the same order twice is one row, even at the same moment', async () => {
      const order = ask();
      const signature = await signOrder(1, order);
      const codes = await Promise.all(Array.from({ length: 8 }, () => codeOf(submit(offline, order, signature))));
      assert.deepEqual(codes.toSorted(), [...Array.from({ length: 7 }, () => 'duplicate'), 'taken']);
      assert.equal(await codeOf(submit(contextOf(null, NOW + 1), order, signature)), 'duplicate');
      assert.equal(await countOrders(), 1);
    });

    test('orders of one token that arrive at once have ids of their own', async () => {
      const taken = await Promise.all(Array.from({ length: 12 }, () => submitSigned(offline)));
      const ids = taken.map((order) => order.orderId);
      assert.deepEqual(
        ids.toSorted(),
        Array.from({ length: 12 }, (_, index) => `ethereum_${EVM}_1_${NOW + index}`).toSorted(),
      );
    });
  });

  describe('of contracts', () => {
    test('are taken where the chain says that the signature is theirs', async () => {
      await follow();
      const order = ask();
      const asked: unknown[] = [];
      const signature: Hex = `0x${'ab'.repeat(130)}`;
      const isValidSignature: ChainChecks['isValidSignature'] = async (...question) => {
        asked.push(question);
        return question[1] === orderDigest(SEAPORT_1_6, hashOrder(order));
      };
      const taken = await submit(contextOf({ isValidSignature }), order, signature);
      assert.equal(taken.protocolAddress, SEAPORT_1_6.address);
      assert.equal(taken.seaport.signature, signature);
      assert.deepEqual(asked.at(-1), [OFFERER, orderDigest(SEAPORT_1_6, hashOrder(order)), signature, 'latest']);
      assert.equal(await codeOf(submit(contextOf({}), ask(), signature)), 'signature_invalid');
    });

    test('are to be tried again where the chain cannot be asked', async () => {
      await follow();
      const away = () => Promise.reject(new Error('no endpoint answers'));
      assert.equal(await codeOf(submit(contextOf({ isValidSignature: away }), ask(), '0xabcd')), 'chain_unavailable');
      assert.equal(await codeOf(submitSigned(contextOf({ getCounter: away }))), 'chain_unavailable');
      assert.equal(await codeOf(submitSigned(contextOf({ getOrderStatus: away }))), 'chain_unavailable');
      assert.equal(await countOrders(), 0);
    });
  });

  describe('on a chain with endpoints', () => {
    const online = contextOf({});
    test('are taken of a followed collection only', async () => {
      assert.equal(await codeOf(submitSigned(online)), 'collection_not_followed');
      await follow();
      await updateFollowProgress(db, COLLECTION, { readToBlock: 50, joined: false });
      assert.equal(await codeOf(submitSigned(online)), 'collection_not_followed');
      await updateFollowProgress(db, COLLECTION, { readToBlock: 100, joined: true });
      assert.equal(await codeOf(submitSigned(online)), 'taken');
    });

    test('need the token and the approval of the operator that they name', async () => {
      await follow({ held: 0n });
      assert.equal(await codeOf(submitSigned(online)), 'not_the_owner');
      await updateHoldings(db, [{ collectionId: COLLECTION, tokenId: '1', holder: OFFERER, quantity: 1n }]);
      assert.equal(await codeOf(submitSigned(online)), 'taken');
      const conduitKey: Hex = '0x0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000';
      assert.equal(await codeOf(submitSigned(online, ask({}, { conduitKey }))), 'not_approved');
      const word = { collectionId: COLLECTION, contract: EVM, owner: OFFERER, approved: true };
      await updateOperatorApprovals(db, [{ ...word, operator: '0x1e0049783f008a0085193e00003d00cd54003c71' }]);
      assert.equal(await codeOf(submitSigned(online, ask({}, { conduitKey }))), 'taken');
    });

    test('wait for whoever moves the chain on, and are judged by what that left', async () => {
      await follow();
      const order = ask();
      const signature = await signOrder(1, order);
      let outcome: string | null = null;
      let submitted: Promise<unknown> = Promise.resolve();
      await db.transaction(async (tx) => {
        await findChainCursor(tx, 'ethereum', 'for update');
        submitted = codeOf(submit(online, order, signature)).then((code) => (outcome = code));
        // The embedded engine has one connection: there the order waits for it in any case.
        if (engine.name === 'postgresql') {
          const isWaiting = async () =>
            outcome !== null || (await db.query('select 1 from pg_locks where not granted')).length > 0;
          await until(isWaiting, 5_000, 'the order neither waited nor was taken');
        }
        await updateHoldings(tx, [{ collectionId: COLLECTION, tokenId: '1', holder: OFFERER, quantity: -1n }]);
      });
      await submitted;
      assert.equal(outcome, 'not_the_owner');
    });

    test('that were filled, cancelled, or signed with another counter are refused by what the log tells', async () => {
      await follow();
      const [filled, cancelled] = [ask(), ask()];
      const item = { itemType: 2, token: EVM as Address, identifier: 1n, amount: 1n };
      await tell({
        ...place(1),
        kind: 'order-fulfilled',
        orderHash: hashOrder(filled),
        zone: EVM as Address,
        recipient: EVM as Address,
        offer: [item],
        consideration: [],
      });
      await tell({ ...place(2), kind: 'order-cancelled', orderHash: hashOrder(cancelled) });
      assert.equal(await codeOf(submitSigned(online, filled)), 'already_filled');
      assert.equal(await codeOf(submitSigned(online, cancelled)), 'already_cancelled');
      assert.equal(await codeOf(submitSigned(online)), 'taken');
      await tell({ ...place(3), kind: 'counter-incremented', counter: 7n });
      await updateCounters(db, 'ethereum', [{ protocol: SEAPORT_1_6.address, offerer: OFFERER }]);
      assert.equal(await codeOf(submitSigned(online)), 'wrong_counter');
      const next = contextOf({ getCounter: async () => 7n });
      assert.equal(await codeOf(submitSigned(next, ask({}, { counter: 7n }))), 'taken');
      const ahead = contextOf({ getCounter: async () => null });
      assert.equal(await codeOf(submitSigned(ahead, ask({}, { counter: 8n }))), 'wrong_counter');
    });

    test('are refused by what the chain says of the time before it was followed', async () => {
      await follow();
      const done = (more: object) => ({ cancelled: false, totalFilled: 0n, totalSize: 0n, ...more });
      const status = (more: object) => contextOf({ getOrderStatus: async () => done(more) });
      assert.equal(await codeOf(submitSigned(status({ cancelled: true }))), 'already_cancelled');
      assert.equal(await codeOf(submitSigned(status({ totalFilled: 1n, totalSize: 1n }))), 'already_filled');
      assert.equal(await codeOf(submitSigned(status({ totalFilled: 1n, totalSize: 2n }))), 'already_filled');
      assert.equal(await codeOf(submitSigned(contextOf({ getCounter: async () => 5n }))), 'wrong_counter');
    });

    test('are asked about again when the follower moved on before they were known to it', async () => {
      await follow();
      let asked = 0;
      const context = contextOf({
        getOrderStatus: async () => {
          asked += 1;
          const cancelled = asked > 1;
          if (asked === 1) {
            await db.query(
              `update main.chain_cursor set block_number = block_number + 1, block_hash = block_hash || '1'`,
            );
          }
          return { cancelled, totalFilled: 0n, totalSize: 0n };
        },
      });
      assert.equal(await codeOf(submitSigned(context)), 'already_cancelled');
      assert.equal(asked, 2);
    });
  });

  describe('cancelled by word', () => {
    const signCancel = (n: number, orderHash: Hex, chainId = 1) =>
      accountOf(n).signTypedData({
        domain: { name: 'Mercat', version: '1', chainId },
        types: { CancelOrder: [{ name: 'orderHash', type: 'bytes32' }] },
        primaryType: 'CancelOrder',
        message: { orderHash },
      });

    test('need the signature of their offerer, for that order, on that chain', async () => {
      const { orderId, orderHash } = await submitSigned(offline);
      const cancel = async (signature: unknown) =>
        codeOf(cancelOrder(offline, orderId, { cancelledBy: 'offerer', signature }));
      assert.equal(await cancel(await signCancel(2, orderHash)), 'signature_invalid');
      assert.equal(await cancel(await signCancel(1, orderHash, 137)), 'signature_invalid');
      assert.equal(await cancel(await signCancel(1, hashOrder(ask()))), 'signature_invalid');
      assert.equal(await cancel('0x1234'), 'signature_unverifiable');
      assert.equal(await cancel(undefined), 'malformed_order');
      const cancelled = await cancelOrder(offline, orderId, {
        cancelledBy: 'offerer',
        signature: await signCancel(1, orderHash),
      });
      assert.deepEqual([cancelled?.status, cancelled?.endedAt, cancelled?.tx], ['cancelled', NOW, null]);
      assert.equal(await cancel(await signCancel(1, orderHash)), 'taken');
      const { cancel: word } = (await explainOrder(offline, orderId)) ?? {};
      assert.deepEqual([word?.cancelledBy, word?.createdAt], ['offerer', NOW]);
      const digest = cancelDigest(1, orderHash);
      assert.match(digest, /^0x[0-9a-f]{64}$/);
    });

    test('are cancelled once, and not after they have ended', async () => {
      const { orderId } = await submitSigned(offline);
      const later = contextOf(null, NOW + 2 * HOUR * 1_000);
      assert.equal(await codeOf(cancelOrder(later, orderId, { cancelledBy: 'operator' })), 'expired');
      const all = await Promise.all(
        Array.from({ length: 4 }, () => cancelOrder(offline, orderId, { cancelledBy: 'operator' })),
      );
      assert.ok(all.every((order) => order?.status === 'cancelled'));
      assert.equal(await cancelOrder(offline, 'nothing', { cancelledBy: 'operator' }), null);
      await db.query(`update main.book_order set status = 'filled'`);
      assert.equal(await codeOf(cancelOrder(offline, orderId, { cancelledBy: 'operator' })), 'already_filled');
    });

    test('say why they are in the state they are in', async () => {
      await follow();
      const { orderId, orderHash } = await submitSigned(contextOf({}));
      const { protocol: _protocol, offerer: _offerer, ...where } = place(4);
      const moved = {
        contract: EVM as Address,
        tokenId: '1' as AssetId,
        from: OFFERER,
        to: EVM as Address,
        quantity: 1n,
      };
      await tell({ ...where, kind: 'transfer', ...moved });
      await updateHoldings(db, [{ collectionId: COLLECTION, tokenId: '1', holder: OFFERER, quantity: -1n }]);
      const explained = await explainOrder(offline, orderId);
      assert.equal(explained?.derived?.dormant, 'no-balance');
      assert.deepEqual(
        explained?.checks.filter(({ ok }) => ok === false).map(({ check }) => check),
        ['balance', 'stored_state'],
      );
      assert.deepEqual(
        explained?.tokenEvents.map(({ kind, logIndex }) => [kind, logIndex]),
        [['transfer', 4]],
      );
      assert.equal(explained?.readTo?.number, 100);
      assert.equal(explained?.order.signed?.orderHash, orderHash);
      assert.deepEqual(
        explained?.transitions.map(({ to }) => to),
        ['active', 'dormant'],
      );
    });
  });

  describe('imported', () => {
    const record = async (order: SeaportOrder, more: object = {}, signature?: string) =>
      orderRecord({
        seller: order.offerer,
        priceRaw: '1000',
        seaport: { parameters: toParameters(order), signature: signature ?? (await signOrder(1, order)) },
        ...more,
      });
    const load = (...records: unknown[]) => runImport(toContext(db), toNdjson(records));

    test('are verified, and known by their hash from then on', async () => {
      const order = ask();
      const line = await record(order);
      assert.deepEqual((await load(line)).refused, []);
      const [row] = await db.query('select * from main.book_order');
      assert.deepEqual([row?.['order_hash'], row?.['operator']], [hashOrder(order), SEAPORT_1_6.address]);
      assert.deepEqual((row?.['expires_at'] as Date | undefined)?.getTime(), (START + HOUR) * 1_000);
      assert.equal((await load(line)).summary.unchanged, 1);
      assert.equal(await codeOf(submitSigned(offline, order)), 'duplicate');
      const elsewhere = await load(await record(order, { createdAt: '2026-05-02T00:00:00Z' }));
      assert.match(elsewhere.refused[0]?.reason ?? '', /^seaport: the order is already stored as ethereum_/);
    });

    test('are refused where the signature is not the offerer’s, or the order says something else', async () => {
      const order = ask();
      const { refused, summary } = await load(
        await record(order, {}, await signOrder(2, order)),
        await record(order, { tokenId: '2' }),
        await record(order, { priceRaw: '999' }),
        await record(order, { seller: EVM }),
        await record(order, { expiresAt: '2027-01-01T00:00:00Z' }),
        await record(order, {}, '0x'),
        await record(ask({ price: 0n }), { priceRaw: '0' }),
        orderRecord({ tokenId: '5' }),
      );
      assert.equal(summary.inserted, 1, 'the unsigned one is kept');
      const reasons = refused.map(({ line, reason }) => `${line} ${reason.slice(0, 80)}`);
      assert.match(reasons.join('\n'), /^1 seaport\.signature: is not a signature of this order by its offerer/);
      assert.equal(reasons.length, 7);
      for (const [index, pattern] of [
        /tokenId: must be as in the signed order/,
        /priceRaw: must be as in the signed order/,
        /seller: must be as in the signed order/,
        /expiresAt: must be as in the signed order/,
        /signature: must/,
        /price_not_positive/,
      ].entries()) {
        assert.match(reasons[index + 1] ?? '', pattern);
      }
    });

    test('keep the terms that were signed, whatever is told without a signature', async () => {
      const order = ask();
      await load(await record(order));
      await load(orderRecord({ priceRaw: '1', seller: order.offerer }));
      const priceOf = async () => (await db.query('select price_raw, status, order_hash from main.book_order'))[0];
      assert.deepEqual(await priceOf(), { price_raw: '1000', status: 'active', order_hash: hashOrder(order) });
      await load(orderRecord({ priceRaw: '1', seller: order.offerer, status: 'filled', tx: '0x1' }));
      assert.equal((await priceOf())?.['status'], 'filled');
    });

    test('of a followed collection are judged by what the chain has told', async () => {
      await follow({ held: 0n });
      await load(await record(ask()));
      assert.equal((await db.query('select dormant from main.book_order'))[0]?.['dormant'], 'no-balance');
    });
  });
});
