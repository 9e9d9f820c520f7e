// What accounts with keys do on the simulated chain: they mint, approve, list, bid, accept, cancel and move money. Each transaction has the logs that a follower
// sees, and its effects, from which the state at any block is derived without decoding a log.

import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../../src/platform/core/evm.ts';
import type { FakeAction, FakeBlock } from './fake-chain.ts';
import type { FakeLog } from './fake-logs.ts';
import { bidFillLog, listingFillLog, SEAPORT, transferLog, WRAPPED } from './fake-logs.ts';

/** `balance` and `allowance` (of Seaport) are of the wrapped currency. A `fill` is of `units` of the `of` units of the order. */
export type FakeEffect =
  | { kind: 'balance' | 'allowance'; account: Hex; amount: bigint }
  | { kind: 'approval'; collection: Hex; account: Hex; approved: boolean }
  | { kind: 'cancel'; orderHash: Hex }
  | { kind: 'counter'; account: Hex; counter: bigint }
  | { kind: 'fill'; orderHash: Hex; units: bigint; of: bigint };

/** A transaction that is not in a block yet. */
export type PlannedTransaction = {
  from: Hex;
  value: bigint;
  action: FakeAction;
  logs: FakeLog[];
  effects: FakeEffect[];
};

/** The state of the contracts at the end of the newest of the blocks. Times are in seconds. */
export type FakeState = {
  balances: ReadonlyMap<Hex, bigint>;
  allowances: ReadonlyMap<Hex, bigint>;
  counters: ReadonlyMap<Hex, bigint>;
  /** By collection and account. */
  approvals: ReadonlyMap<string, boolean>;
  cancelled: ReadonlySet<Hex>;
  filled: ReadonlyMap<Hex, { units: bigint; of: bigint }>;
};

const EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event Deposit(address indexed dst, uint256 wad)',
  'event Withdrawal(address indexed src, uint256 wad)',
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
  'event OrderCancelled(bytes32 orderHash, address indexed offerer, address indexed zone)',
  'event CounterIncremented(uint256 newCounter, address indexed offerer)',
]);
const ZERO = ZERO_ADDRESS as Hex;

export function stateAt(blocks: readonly FakeBlock[]): FakeState {
  const state = {
    balances: new Map<Hex, bigint>(),
    allowances: new Map<Hex, bigint>(),
    counters: new Map<Hex, bigint>(),
    approvals: new Map<string, boolean>(),
    cancelled: new Set<Hex>(),
    filled: new Map<Hex, { units: bigint; of: bigint }>(),
  };
  for (const effect of blocks.flatMap(({ transactions }) => transactions.flatMap(({ effects = [] }) => effects))) {
    if (effect.kind === 'balance') state.balances.set(effect.account, effect.amount);
    if (effect.kind === 'allowance') state.allowances.set(effect.account, effect.amount);
    if (effect.kind === 'counter') state.counters.set(effect.account, effect.counter);
    if (effect.kind === 'approval') state.approvals.set(`${effect.collection} ${effect.account}`, effect.approved);
    if (effect.kind === 'cancel') state.cancelled.add(effect.orderHash);
    if (effect.kind === 'fill') {
      const before = state.filled.get(effect.orderHash)?.units ?? 0n;
      state.filled.set(effect.orderHash, { units: before + effect.units, of: effect.of });
    }
  }
  return state;
}

export function planMint(collection: Hex, tokenId: number, to: Hex): PlannedTransaction {
  const action: FakeAction = { kind: 'mint', collection, tokenId, from: ZERO, to, price: null };
  return { from: to, value: 0n, action, logs: [transferLog(action)], effects: [] };
}

export function planBurn(collection: Hex, tokenId: number, from: Hex): PlannedTransaction {
  const action: FakeAction = { kind: 'burn', collection, tokenId, from, to: ZERO, price: null };
  return { from, value: 0n, action, logs: [transferLog(action)], effects: [] };
}

export function planTransfer(collection: Hex, tokenId: number, from: Hex, to: Hex): PlannedTransaction {
  const action: FakeAction = { kind: 'transfer', collection, tokenId, from, to, price: null };
  return { from, value: 0n, action, logs: [transferLog(action)], effects: [] };
}

/** The approval of Seaport to transfer all tokens of the account. */
export function planApproval(collection: Hex, account: Hex, approved: boolean): PlannedTransaction {
  const data = encodeAbiParameters([{ type: 'bool' }], [approved]);
  const log = toLog(collection, 'ApprovalForAll', { owner: account, operator: SEAPORT }, data);
  return other(account, [log], [{ kind: 'approval', collection, account, approved }]);
}

/** Changes the balance to `after`, by a deposit, a withdrawal, or a transfer to another account. */
export function planBalance(account: Hex, { before, after }: { before: bigint; after: bigint }): PlannedTransaction {
  const data = toWord(after > before ? after - before : before - after);
  const log =
    after > before
      ? toLog(WRAPPED, 'Deposit', { dst: account }, data)
      : after % 2n === 0n
        ? toLog(WRAPPED, 'Withdrawal', { src: account }, data)
        : toLog(WRAPPED, 'Transfer', { from: account, to: SEAPORT }, data);
  return other(account, [log], [{ kind: 'balance', account, amount: after }]);
}

/** What Seaport may spend of the account's wrapped currency. */
export function planAllowance(account: Hex, amount: bigint): PlannedTransaction {
  const log = toLog(WRAPPED, 'Approval', { owner: account, spender: SEAPORT }, toWord(amount));
  return other(account, [log], [{ kind: 'allowance', account, amount }]);
}

export function planCancel(account: Hex, orderHash: Hex): PlannedTransaction {
  const data = encodeAbiParameters([{ type: 'bytes32' }], [orderHash]);
  const log = toLog(SEAPORT, 'OrderCancelled', { offerer: account, zone: ZERO }, data);
  return other(account, [log], [{ kind: 'cancel', orderHash }]);
}

export function planCounter(account: Hex, counter: bigint): PlannedTransaction {
  const log = toLog(SEAPORT, 'CounterIncremented', { offerer: account }, toWord(counter));
  return other(account, [log], [{ kind: 'counter', account, counter }]);
}

export type PlannedFill = {
  orderHash: Hex;
  collection: Hex;
  tokenId: number;
  from: Hex;
  to: Hex;
  price: bigint;
  of: bigint;
};

/** `to` buys the token with the listing of `from`, for the price in the native currency. */
export function planPurchase({ of, ...fill }: PlannedFill): PlannedTransaction {
  const { orderHash, collection, tokenId, from, to, price } = fill;
  const action: FakeAction = { kind: 'sale', collection, tokenId, from, to, price };
  const logs = [transferLog(action), listingFillLog(fill)];
  return { from: to, value: price, action, logs, effects: [{ kind: 'fill', orderHash, units: 1n, of }] };
}

/** `from` accepts the bid of `to` for the token. The allowance that is spent has no log. `balance` and `allowance` are those of the bidder before. */
export function planAcceptance(
  { of, ...fill }: PlannedFill,
  { balance, allowance, fee }: { balance: bigint; allowance: bigint; fee: bigint },
): PlannedTransaction {
  const { orderHash, collection, tokenId, from, to, price } = fill;
  const action: FakeAction = { kind: 'sale', collection, tokenId, from, to, price };
  const paid = toLog(WRAPPED, 'Transfer', { from: to, to: from }, toWord(price));
  return {
    from,
    value: 0n,
    action,
    logs: [transferLog(action), paid, bidFillLog({ ...fill, fee })],
    effects: [
      { kind: 'fill', orderHash, units: 1n, of },
      { kind: 'balance', account: to, amount: balance - price },
      { kind: 'allowance', account: to, amount: allowance - price },
    ],
  };
}

/** A transaction that moves no token. */
function other(from: Hex, logs: FakeLog[], effects: FakeEffect[]): PlannedTransaction {
  const action: FakeAction = { kind: 'other', collection: SEAPORT, tokenId: 0, from, to: from, price: null };
  return { from, value: 0n, action, logs, effects };
}

function toLog(
  address: Hex,
  eventName: (typeof EVENTS)[number]['name'],
  args: Record<string, Hex>,
  data: Hex,
): FakeLog {
  const topics = encodeEventTopics({ abi: EVENTS, eventName, args });
  return { address, topics: topics.flat().filter((topic) => topic !== null), data, logIndex: 0 };
}

function toWord(value: bigint): Hex {
  return encodeAbiParameters([{ type: 'uint256' }], [value]);
}
