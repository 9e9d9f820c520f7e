// Signed orders of a followed collection, and what their accounts do on the simulated chain: they mint, approve, sell, bid, accept, cancel, and move their money. "orders"
// is docs/orders.md.

import type { Check, Json } from '../comparison/check.ts';
import { dataOf, proceedsOf, rawOf } from '../comparison/check.ts';
import { Difference } from '../errors.ts';
import type { FakeChain } from '../../../test/support/chain/fake/fake-chain.ts';
import { toOwners } from '../../../test/support/chain/fake/fake-chain.ts';
import type { PlannedTransaction } from '../../../test/support/chain/fake/fake-trades.ts';
import * as trades from '../../../test/support/chain/fake/fake-trades.ts';
import type { Bid } from '../rules/bids.ts';
import { accepts, kindOf } from '../rules/bids.ts';
import type { OrderFacts, Standing } from '../rules/chain.ts';
import { isFunded, standingOf } from '../rules/chain.ts';
import { compareText, oneForEachAsset } from '../rules/figures.ts';
import type { Listing } from '../rules/market.ts';
import type { TradeStep } from '../steps.ts';
import type { StreamCopy } from './copy.ts';
import type { ServiceDoors } from './service-doors.ts';
import { accountOf, DEPLOYMENTS, rootOf, signOrder, toAsk, toBid } from './signing.ts';

const CHAIN = 'ethereum';
const ORDERS = '/intake/v1/orders';
const MINUTE_S = 60;
/** The tokens of the accounts with keys, which the simulation does not mint itself. */
const TOKENS = [50, 51, 52, 53];
const ACCOUNTS = [1, 2];
type Hex = `0x${string}`;

type Order = {
  account: number;
  hash: Hex;
  counter: bigint;
  /** Cancelled off-chain. */
  isClosed: boolean;
  isPartial: boolean;
  fee: bigint;
  quantity: bigint;
  priceRaw: bigint;
  expiresAt: number;
} & ({ side: 'ask'; row: Listing } | { side: 'bid'; row: Bid });

export class ChainOrders {
  readonly #chain: FakeChain;
  readonly #contract: Hex;
  #orders: Order[] = [];

  constructor(chain: FakeChain, contract: Hex) {
    this.#chain = chain;
    this.#contract = contract;
  }

  get id(): string {
    return `${CHAIN}_${this.#contract}`;
  }

  /** Keeps the present state, as a backup does. Calling the result brings it back. */
  keep(): () => void {
    const orders = this.#orders.map((one) => ({ ...one }));
    return () => {
      this.#orders = orders.map((one) => ({ ...one }));
    };
  }

  /** The transaction of a step, or null: the step is a request, or changes nothing at present. */
  plan(step: TradeStep): PlannedTransaction | null {
    const account = addressOf(step.account);
    const other = addressOf(3 - step.account);
    const token = TOKENS[step.token] ?? 0;
    const owner = toOwners(this.#chain.blocks).get(this.#contract)?.get(token);
    const state = trades.stateAt(this.#chain.blocks);
    const balance = state.balances.get(account) ?? 0n;
    const order = this.#orders[step.of % Math.max(1, this.#orders.length)];
    switch (step.kind) {
      case 'mint':
        return owner === undefined ? trades.planMint(this.#contract, token, account) : null;
      case 'transfer':
        return owner === account ? trades.planTransfer(this.#contract, token, account, other) : null;
      case 'burn':
        return owner === account ? trades.planBurn(this.#contract, token, account) : null;
      case 'approve':
      case 'revoke':
        return trades.planApproval(this.#contract, account, step.kind === 'approve');
      case 'deposit':
        return trades.planBalance(account, { before: balance, after: balance + BigInt(step.price) });
      case 'withdraw':
        return balance > 0n ? trades.planBalance(account, { before: balance, after: balance / 2n }) : null;
      case 'allow':
        return trades.planAllowance(account, BigInt(step.price) * BigInt(step.units));
      case 'cancel':
        return order ? trades.planCancel(addressOf(order.account), order.hash) : null;
      case 'counter':
        return trades.planCounter(account, (state.counters.get(account) ?? 0n) + 1n);
      case 'fill':
        return order && this.#standing(order) === 'active' ? this.#planFill(order, step) : null;
      case 'ask':
      case 'bid':
      case 'close':
        return null;
    }
  }

  #planFill(order: Order, { token }: TradeStep): PlannedTransaction | null {
    const { hash: orderHash, priceRaw: price, quantity: of, fee } = order;
    const offerer = addressOf(order.account);
    const common = { orderHash, collection: this.#contract, price, of };
    if (order.side === 'ask') {
      const to = addressOf(3 - order.account);
      return trades.planPurchase({ ...common, tokenId: Number(order.row.asset), from: offerer, to });
    }
    const tokenId = order.row.asset === null ? (TOKENS[token] ?? 0) : Number(order.row.asset);
    const from = toOwners(this.#chain.blocks).get(this.#contract)?.get(tokenId) ?? null;
    if (from === null || from === offerer || !accepts(order.row, String(tokenId))) return null;
    const { balances, allowances } = trades.stateAt(this.#chain.blocks);
    const [balance, allowance] = [balances.get(offerer) ?? 0n, allowances.get(offerer) ?? 0n];
    return trades.planAcceptance({ ...common, tokenId, from, to: offerer }, { balance, allowance, fee });
  }

  /** Submits an order, or cancels one off-chain. */
  async request(doors: ServiceDoors, step: TradeStep, commands: string[]): Promise<void> {
    if (step.kind === 'close') return this.#close(doors, step, commands);
    if (step.kind !== 'ask' && step.kind !== 'bid') return;
    const { body, order } = await this.#sign(step, doors.now);
    commands.push(`curl -H "authorization: Bearer $KEY" -d '${JSON.stringify(body)}' "$URL${ORDERS}"`);
    const { status, body: served } = await doors.intake('POST', ORDERS, body, 'orders');
    const expected = this.#refusalOf(order);
    const refusal = status < 300 ? null : `${status} ${(served as { error: { code: string } }).error.code}`;
    if (expected !== refusal)
      throw new Difference(`POST ${ORDERS} (${this.id})\n    model:  ${expected}\n    served: ${refusal}`);
    if (expected !== null) return;
    const { data, order: stored } = served as { data: Json; order: Json };
    order.hash = String(stored['orderHash']) as Hex;
    order.row.orderId = String(data['orderId']);
    order.row.listedAt = Date.parse(String(data['timestamp']));
    this.#orders.push(order);
  }

  /** Orders, the table of rejections: the checks of its last row, in the order of the table. */
  #refusalOf(order: Order): string | null {
    const { balance, allowance } = this.#fundsOf(order);
    const owners = toOwners(this.#chain.blocks).get(this.#contract);
    if (order.side === 'bid') {
      if (order.row.asset !== null && owners?.get(Number(order.row.asset)) === null) return '422 token_burned';
      const need = { priceRaw: order.priceRaw, quantity: order.quantity, isPartial: order.isPartial };
      if (!isFunded(need, { balance, allowance: balance })) return '422 no_funds';
      return isFunded(need, { balance, allowance }) ? null : '422 not_approved';
    }
    if (owners?.get(Number(order.row.asset)) !== addressOf(order.account)) return '422 not_the_owner';
    return this.#isApproved(order) ? null : '422 not_approved';
  }

  async #sign(step: TradeStep, now: number): Promise<{ body: object; order: Order }> {
    const seconds = Math.floor(now / 1_000);
    const isBid = step.kind === 'bid';
    const units = isBid && step.wants !== 'item' ? BigInt(step.units) : 1n;
    const price = BigInt(step.price);
    const fee = isBid && step.hasFee ? price / 20n : 0n;
    const counter = trades.stateAt(this.#chain.blocks).counters.get(addressOf(step.account)) ?? 0n;
    const terms = {
      offerer: step.account,
      contract: this.#contract,
      standard: 'erc721',
      units,
      price: price * units,
      fee: fee * units,
      startTime: seconds - MINUTE_S,
      endTime: seconds + step.expiresIn * MINUTE_S,
      salt: BigInt(now),
    } as const;
    const asset = String(TOKENS[step.token]);
    const tokens = step.wants === 'tokens' ? [asset, String(TOKENS[0])] : null;
    const set = tokens && [...new Set(tokens)];
    const wanted = step.wants === 'item' ? { tokenId: asset } : { root: set ? rootOf(set) : 0n };
    const { wrapped = '0x' } = DEPLOYMENTS[CHAIN] ?? {};
    const signed = { ...(isBid ? toBid(terms, wrapped, wanted) : toAsk(terms, asset)), counter };
    const body = {
      chain: CHAIN,
      order: await signOrder(signed, CHAIN, step.account),
      ...(isBid && set && { criteria: { tokenIds: set } }),
    };
    const maker = addressOf(step.account);
    const expiresAt = terms.endTime * 1_000;
    const stated = {
      orderId: '',
      collectionId: this.id,
      listedAt: 0,
      status: 'active',
      priceRaw: price,
      expiresAt,
    } as const;
    const common = {
      account: step.account,
      hash: '0x' as Hex,
      counter,
      isClosed: false,
      isPartial: units > 1n,
      fee,
      quantity: units,
      priceRaw: price,
      expiresAt,
    };
    if (isBid) {
      const isItem = step.wants === 'item';
      const subject = { asset: isItem ? asset : null, tokens: isItem ? null : set, traits: null };
      const row: Bid = { ...stated, ...subject, proceedsRaw: price - fee, quantity: units, maker };
      return { body, order: { ...common, side: 'bid', row } };
    }
    const row: Listing = {
      ...stated,
      key: '',
      source: null,
      asset,
      buyerTotalRaw: null,
      seller: maker,
      orderHash: null,
      tx: null,
    };
    return { body, order: { ...common, side: 'ask', row } };
  }

  /** Orders, "Cancelling": by the operator of the service. */
  async #close(doors: ServiceDoors, { of }: TradeStep, commands: string[]): Promise<void> {
    const order = this.#orders[of % Math.max(1, this.#orders.length)];
    if (!order) return;
    const path = `${ORDERS}/${order.row.orderId}/cancel`;
    commands.push(`curl -X POST -H "authorization: Bearer $KEY" "$URL${path}"`);
    const standing = this.#standing(order, doors.now);
    const { status } = await doors.intake('POST', path, undefined, 'intake');
    // "The response is 409 for an order that was filled, has expired". "A second cancel changes nothing; its response is 200."
    const expected = standing === 'filled' || standing === 'expired' ? 409 : 200;
    if (status !== expected) throw new Difference(`POST ${path}\n    model:  ${expected}\n    served: ${status}`);
    if (status === 200) order.isClosed = true;
  }

  #standing(order: Order, now = this.#chain.time): Standing {
    return standingOf(order, this.#factsOf(order), now);
  }

  #factsOf(order: Order): OrderFacts {
    const { blocks } = this.#chain;
    const { hash, counter } = order;
    const account = addressOf(order.account);
    const wanted = order.side === 'bid' ? order.row.asset : null;
    const ends = blocks.find(({ transactions }) =>
      transactions.some(
        ({ effects = [], action }) =>
          effects.some(
            (effect) =>
              (effect.kind === 'cancel' && effect.orderHash === hash) ||
              (effect.kind === 'counter' && effect.account === account && effect.counter > counter),
          ) ||
          (action.kind === 'burn' && action.collection === this.#contract && String(action.tokenId) === wanted),
      ),
    );
    return {
      filled: trades.stateAt(blocks).filled.get(hash)?.units ?? 0n,
      endedAt: ends ? ends.timeS * 1_000 : null,
      isCovered:
        order.side === 'bid' ? isFunded(order, this.#fundsOf(order)) : this.#isHeld(order) && this.#isApproved(order),
    };
  }

  #isHeld({ account, row }: Order): boolean {
    const owners = toOwners(this.#chain.blocks).get(this.#contract);
    return owners?.get(Number(row.asset)) === addressOf(account);
  }

  #isApproved({ account }: Order): boolean {
    return trades.stateAt(this.#chain.blocks).approvals.get(`${this.#contract} ${addressOf(account)}`) ?? false;
  }

  #fundsOf({ account }: Order): { balance: bigint; allowance: bigint } {
    const { balances, allowances } = trades.stateAt(this.#chain.blocks);
    return { balance: balances.get(addressOf(account)) ?? 0n, allowance: allowances.get(addressOf(account)) ?? 0n };
  }

  /** What is served about the orders of the collection. */
  checks(doors: ServiceDoors, copy: StreamCopy, limit: number): Check[] {
    const standings = this.#orders.map((order) => ({ order, standing: this.#standing(order, doors.now) }));
    const check = (path: string, compare: Check['compare']): Check => ({
      path: `${path} of the chain`,
      of: 'chain',
      compare,
    });
    const list = (side: 'ask' | 'bid', status: Standing, sort: string) => {
      const path = `/explore/v1/orders?side=${side}&collection=${this.id}&status=${status}${sort}`;
      return check(path, async () => {
        const rows = (await doors.rows(path, limit)) as Json[] | null;
        const wanted = standings.filter((one) => one.order.side === side && one.standing === status);
        return [
          wanted.map(({ order }) => this.#lineOf(order)).toSorted(),
          rows
            ?.map(({ orderId, price, quantity, remaining }) => [orderId, rawOf(price), quantity, remaining].join(' '))
            .toSorted() ?? null,
        ];
      });
    };
    const active = standings.filter(({ standing }) => standing === 'active').map(({ order }) => order);
    const asks = active.flatMap((order) => (order.side === 'ask' ? [order.row] : []));
    const bids = active.flatMap((order) => (order.side === 'bid' ? [order.row] : []));
    const best = (rows: readonly Bid[]) =>
      rows
        .reduce<bigint | null>((top, { proceedsRaw: raw }) => (top === null || raw > top ? raw : top), null)
        ?.toString() ?? null;
    const base = `/v1/collections/${this.id}`;
    return [
      ...(['ask', 'bid'] as const).flatMap((side) => [
        list(side, 'active', '&sort=price'),
        ...(['dormant', 'filled', 'cancelled', 'expired'] as const).map((status) => list(side, status, '')),
      ]),
      check(`${base}/listings`, async () => {
        const rows = (await doors.rows(`${base}/listings`, limit)) as Json[] | null;
        return [
          oneForEachAsset(asks).map(({ asset, priceRaw, orderId }) => `${asset} ${priceRaw} ${orderId}`),
          rows?.map((row) => `${String(row['tokenId'])} ${rawOf(row['price'])} ${String(row['orderId'])}`) ?? null,
        ];
      }),
      check(`/explore/v1/collections/${this.id}`, async () => {
        const { stats } = dataOf((await doors.get(`/explore/v1/collections/${this.id}`)).body) as { stats: Json };
        const floor = oneForEachAsset(asks)[0]?.priceRaw.toString() ?? null;
        return [
          [floor, best(bids.filter((bid) => kindOf(bid) === 'collection'))],
          [rawOf(stats['floor']), proceedsOf(stats['topBid'])],
        ];
      }),
      check(`the orders of ${this.id} in a copy that follows the stream`, async () => [
        [asks, bids].map((rows) => rows.map(({ orderId, priceRaw }) => `${orderId} ${priceRaw}`).toSorted()),
        [copy.of(this.id), copy.bidsOf(this.id)].map((rows) =>
          rows.map(({ orderId, raw }) => `${orderId} ${raw}`).toSorted(),
        ),
      ]),
      ...ACCOUNTS.map((account) => this.#offers(doors, { account, bids, limit })),
      ...standings.map(({ order, standing }) => {
        const path = `${ORDERS}/${order.row.orderId}`;
        return check(path, async () => {
          const { data, order: served } = (await doors.intake('GET', path)).body as { data: Json; order: Json };
          const isDormant = standing === 'dormant';
          return [
            [isDormant ? 'active' : standing, isDormant, this.#factsOf(order).filled.toString()],
            [data['status'], served['dormant'] !== null, served['filledQuantity']],
          ];
        });
      }),
    ];
  }

  /** Explore: "what is offered for the tokens that a wallet holds, the best first: one row for each token, with its top bid". */
  #offers(
    doors: ServiceDoors,
    { account, bids, limit }: { account: number; bids: readonly Bid[]; limit: number },
  ): Check {
    const wallet = addressOf(account);
    const path = `/explore/v1/wallets/${wallet}/offers?chain=${CHAIN}`;
    return {
      path: `${path} of the chain`,
      of: 'chain',
      compare: async () => {
        const rows = (await doors.rows(path, limit)) as Json[] | null;
        const held = [...(toOwners(this.#chain.blocks).get(this.#contract) ?? [])].filter(
          ([, owner]) => owner === wallet,
        );
        const expected = held.flatMap(([token]) => {
          const fitting = bids.filter((bid) => bid.maker !== wallet && accepts(bid, String(token)));
          const [top] = fitting.toSorted((a, b) => (a.proceedsRaw > b.proceedsRaw ? -1 : 1));
          return top ? [`${token} ${top.proceedsRaw}`] : [];
        });
        const served = rows?.map((row) => {
          const { token, bid, topBid } = row as { token?: Json; bid?: unknown; topBid?: unknown };
          return `${String((token ?? row)['tokenId'])} ${proceedsOf(topBid ?? bid ?? token?.['topBid'])}`;
        });
        return [expected.toSorted(compareText), served?.toSorted(compareText) ?? null];
      },
    };
  }

  #lineOf(order: Order): string {
    const { filled } = this.#factsOf(order);
    return [order.row.orderId, order.priceRaw, order.quantity, order.quantity - filled].join(' ');
  }
}

function addressOf(account: number): Hex {
  return accountOf(account).address.toLowerCase() as Hex;
}
