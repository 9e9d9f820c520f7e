// Judges what the clients of a shop have seen of its stock, by the rules alone. A product is a register with two numbers: what can be sold, and what
// reservations hold. A reservation is held and ends once. Each operation happens at one moment between its call and its end. Operations on one product
// must have an order (register.ts), in which the changes have the order of the log of stock; so must the changes of one reservation. The log must have exactly
// the operations that were made.

import type { Change, End, History, Interval, ItemState, LogEntry, Operation, Reserve } from './history.ts';
import type { RegisterOperation } from './register.ts';
import { findContradiction } from './register.ts';

const STOCK_MAX = 2 ** 31 - 1;
/** How many findings of one kind are listed. */
const LISTED_MAX = 5;

/** What the checker has counted. `latestMs`: the longest time after which the stock of an expired reservation was returned, downtimes excluded. */
export type Verdict = { findings: string[]; operations: number; reserved: number; expired: number; latestMs: number };

type Stock = { inventory: number; reserved: number };
type ProductOperation = RegisterOperation<Stock>;

export function checkHistory(history: History): Verdict {
  const checker = new Checker(history);
  checker.checkReservations();
  checker.checkProducts();
  checker.checkLog();
  return checker.verdict();
}

class Checker {
  readonly #history: History;
  readonly #findings = new Map<string, string[]>();
  readonly #ofProduct: ReadonlyMap<string, ProductOperation[]>;
  /** Of each reservation: what each item has returned to the stock in the end. */
  readonly #returned = new Map<string, Map<string, number>>();
  readonly #made = new Map<string, Reserve>();
  /** When reservations expired that nobody ended. */
  readonly #expiries = new Map<string, number>();
  /** The places of changes in the log, by `placeKey`. */
  readonly #places: ReadonlyMap<string, number>;
  #latestMs = 0;

  constructor(history: History) {
    this.#history = history;
    this.#ofProduct = new Map(history.products.map(({ id }) => [id, []]));
    this.#places = new Map(history.log.map((entry, index) => [placeKey(entry), index]));
    for (const operation of history.operations) this.#addToProducts(operation);
  }

  verdict(): Verdict {
    const findings = [...this.#findings].flatMap(([kind, texts]) => [
      ...texts.slice(0, LISTED_MAX).map((text) => `${kind}: ${text}`),
      ...(texts.length > LISTED_MAX ? [`${kind}: ${texts.length - LISTED_MAX} more`] : []),
    ]);
    return {
      findings,
      operations: this.#history.operations.length,
      reserved: this.#made.size,
      expired: this.#expiries.size,
      latestMs: this.#latestMs,
    };
  }

  #find(kind: string, text: string): void {
    const texts = this.#findings.get(kind);
    if (texts) texts.push(text);
    else this.#findings.set(kind, [text]);
  }

  #add(product: string, operation: ProductOperation): void {
    const operations = this.#ofProduct.get(product);
    if (operations) operations.push(operation);
    else this.#find('foreign', `${operation.text()} is of no product of the shop`);
  }

  #addToProducts(operation: Operation): void {
    const { call, end } = operation;
    if (operation.kind === 'change') {
      const { result, product } = operation;
      const place = result && 'entry' in result ? (this.#places.get(result.entry) ?? null) : null;
      this.#add(product, { ...toChangeOperation(operation), place });
    } else if (operation.kind === 'read') {
      const { product, inventory, reserved } = operation;
      const apply = (stock: Stock) => (stock.inventory === inventory && stock.reserved === reserved ? stock : null);
      this.#add(product, {
        call,
        end,
        place: null,
        apply,
        text: () => `the read of ${inventory} and ${reserved} held of ${product}`,
      });
    } else if (operation.kind === 'reserve') this.#addReserve(operation);
  }

  #addReserve(operation: Reserve): void {
    const { call, end, items, result } = operation;
    if ('short' in result) {
      for (const { product, level } of result.short) {
        const quantity = items.find((item) => item.product === product)?.quantity ?? 0;
        const apply = (stock: Stock) => (stock.inventory === level && level < quantity ? stock : null);
        this.#add(product, {
          call,
          end,
          place: null,
          apply,
          text: () => `the refusal of ${quantity} of ${product} with ${level} left`,
        });
      }
      if (result.short.length === 0) this.#find('refused', 'a reservation was refused without a short item');
      return;
    }
    if (this.#made.has(result.id)) this.#find('twice', `two reservations have the id ${result.id}`);
    this.#made.set(result.id, operation);
    const isComplete =
      result.items.length === items.length &&
      items.every(({ product, quantity }, index) => {
        const item = result.items[index];
        return item?.product === product && item.quantity === quantity && item.held === quantity && item.consumed === 0;
      });
    if (!isComplete || result.status !== 'held') this.#find('items', `${result.id} does not hold what was asked for`);
    for (const { product, quantity } of items) {
      const apply = ({ inventory, reserved }: Stock) =>
        inventory >= quantity ? { inventory: inventory - quantity, reserved: reserved + quantity } : null;
      const place = this.#places.get(`${result.id} ${product} taken`) ?? null;
      const text = () => `the reservation ${result.id} of ${quantity} of ${product}`;
      this.#add(product, { call, end, place, apply, text });
    }
  }

  /** Each reservation ends once, in the way its requests say, and not after its time. */
  checkReservations(): void {
    const requests = Map.groupBy(this.#history.operations.filter(isEnd), ({ id }) => id);
    const last = new Map(this.#history.reservations.map((one) => [one.id, one]));
    for (const [id, made] of this.#made)
      this.#checkReservation(id, made, requests.get(id) ?? [], last.get(id)?.status ?? 'missing');
    for (const id of last.keys())
      if (!this.#made.has(id)) this.#find('unasked', `nobody has made the reservation ${id}`);
  }

  #checkReservation(id: string, made: Reserve, requests: readonly End[], finalStatus: string): void {
    if ('short' in made.result) return;
    const extensions = requests.filter((one) => one.kind === 'extend' && 'id' in one.result);
    const expiryAt = (time: number) =>
      Math.max(
        'expiresAt' in made.result ? made.result.expiresAt : 0,
        ...extensions
          .filter(({ call }) => call <= time)
          .map(({ result }) => ('expiresAt' in result ? result.expiresAt : 0)),
      );
    for (const { call, end, expiresInMs, result } of extensions) {
      if (!('expiresAt' in result)) continue;
      if (result.expiresAt < call + expiresInMs)
        this.#find('extended', `${id} was extended by less than was asked for`);
      if (call > expiryAt(call - 1)) this.#find('extended', `${id} was extended after it had expired`);
      const isEarned =
        result.expiresAt <=
        Math.max(expiryAt(call - 1), end + expiresInMs, ...extensions.map((one) => one.end + one.expiresInMs));
      if (!isEarned) this.#find('extended', `${id} was extended by more than was asked for`);
    }
    const done = requests
      .filter((one) => one.kind !== 'extend' && 'id' in one.result)
      .toSorted((a, b) => stageOf(a) - stageOf(b));
    let items: readonly ItemState[] = made.result.items;
    let status = 'held';
    let earlier: Interval = made;
    for (const request of done) {
      if (!('id' in request.result)) continue;
      if (status !== 'held') this.#find('ended twice', `${id} was ${status}, and then a ${request.kind} was accepted`);
      if (request.end < earlier.call) this.#find('order', `a ${request.kind} of ${id} was accepted after its end`);
      if (request.call > expiryAt(request.end))
        this.#find('too late', `a ${request.kind} of ${id} was accepted after its expiry`);
      const after = request.result;
      if (!isAllowed(request, items))
        this.#find('items', `a ${request.kind} of ${id} has another result than the rules`);
      this.#addEffects(id, { items, after: after.items, call: request.call, end: request.end, what: request.kind });
      ({ items, status } = after);
      earlier = request;
    }
    const expiry = expiryAt(Number.POSITIVE_INFINITY);
    if (status === 'held') {
      status = 'expired';
      this.#expiries.set(id, expiry);
      const after = items.map((item) => ({ ...item, held: 0 }));
      // Stock that comes back late is a finding of its own (`#noteLateness`), and contradicts nothing else.
      this.#addEffects(id, { items, after, call: expiry, end: Number.POSITIVE_INFINITY, what: 'expiry' });
      earlier = { call: expiry, end: expiry };
    }
    if (finalStatus !== status) this.#find('status', `${id} is ${finalStatus} in the end, and should be ${status}`);
    for (const { kind, end, result } of requests) {
      if (!('refusedAs' in result) || result.refusedAs === 'less') continue;
      if (result.refusedAs !== status)
        this.#find('status', `a ${kind} of ${id} was refused as ${result.refusedAs}, but it was ${status}`);
      else if (end < earlier.call) this.#find('status', `a ${kind} of ${id} was refused as ${status} before that`);
    }
  }

  /** Notes what a change of a reservation does to its products. */
  #addEffects(
    id: string,
    change: { items: readonly ItemState[]; after: readonly ItemState[]; what: string } & Interval,
  ): void {
    const { call, end, what } = change;
    for (const [index, item] of change.items.entries()) {
      const { held, consumed } = change.after[index] ?? item;
      const left = item.held - held;
      const back = left - (consumed - item.consumed);
      const { product } = item;
      const returned = this.#returned.get(id) ?? new Map<string, number>();
      this.#returned.set(id, returned.set(product, (returned.get(product) ?? 0) + back));
      const apply = ({ inventory, reserved }: Stock) =>
        reserved >= left ? { inventory: inventory + back, reserved: reserved - left } : null;
      if (left !== 0)
        this.#add(product, {
          call,
          end,
          place: back === 0 ? null : (this.#places.get(`${id} ${product} back`) ?? null),
          apply,
          text: () => `the ${what} of ${id}, ${back} of ${product} back`,
        });
    }
  }

  /** By when the stock of a reservation must be back that expires at this time. */
  #returnedBy(expiry: number): number {
    let by = expiry + this.#history.lateMs;
    for (const { from, until } of this.#history.downtimes) {
      if (from <= by && until >= expiry) by = Math.max(by, until + this.#history.lateMs);
    }
    return by;
  }

  checkProducts(): void {
    for (const { id, inventory } of this.#history.products) {
      const operations = this.#ofProduct.get(id) ?? [];
      const text = findContradiction(
        { inventory, reserved: 0 },
        operations,
        (stock) => `${stock.inventory} and ${stock.reserved} held`,
      );
      if (text !== null) this.#find('contradiction', text);
    }
  }

  /** The log of a product is a chain. It has each acknowledged change once, and what reservations have taken and returned, and nothing else. */
  checkLog(): void {
    const changes = new Map<string, Change>();
    for (const one of this.#history.operations) {
      if (one.kind !== 'change' || !one.result || !('entry' in one.result)) continue;
      if (changes.has(one.result.entry)) this.#find('log', `two changes have the entry ${one.result.entry}`);
      changes.set(one.result.entry, one);
    }
    const levels = new Map(this.#history.products.map(({ id, inventory }) => [id, inventory]));
    const latestCalls = new Map<string, number>();
    const taken = new Map<string, number>();
    const returned = new Map<string, number>();
    for (const entry of this.#history.log) {
      const { product, previous, next } = entry;
      if (levels.get(product) !== previous)
        this.#find('log', `${entry.id} begins with ${previous}, after ${levels.get(product)}`);
      levels.set(product, next);
      if (entry.reservation === null) {
        const change = changes.get(entry.id);
        changes.delete(entry.id);
        if (!change) {
          this.#find('log', `nobody has made the change ${entry.id}`);
          continue;
        }
        if (
          change.product !== product ||
          !change.result ||
          !('entry' in change.result) ||
          change.result.previous !== previous ||
          change.result.next !== next
        )
          this.#find('log', `${entry.id} is not what its request was told`);
        if ((latestCalls.get(product) ?? 0) > change.end)
          this.#find('log', `${entry.id} is behind a change that was made after it`);
        latestCalls.set(product, Math.max(latestCalls.get(product) ?? 0, change.call));
        continue;
      }
      const key = `${entry.reservation} ${product}`;
      const side = next < previous ? taken : returned;
      side.set(key, (side.get(key) ?? 0) + Math.abs(next - previous));
      this.#noteLateness(entry);
    }
    for (const id of changes.keys()) this.#find('log', `the acknowledged change ${id} is missing`);
    for (const [id, { items }] of this.#made) {
      for (const { product, quantity } of items) {
        const key = `${id} ${product}`;
        const back = this.#returned.get(id)?.get(product) ?? 0;
        if (taken.get(key) !== quantity)
          this.#find('log', `${id} has taken ${taken.get(key) ?? 0} of ${product}, not ${quantity}`);
        if ((returned.get(key) ?? 0) !== back)
          this.#find('log', `${id} has returned ${returned.get(key) ?? 0} of ${product}, not ${back}`);
        taken.delete(key);
        returned.delete(key);
      }
    }
    for (const key of [...taken.keys(), ...returned.keys()])
      this.#find('log', `nobody has made the reservation ${key}`);
  }

  #noteLateness({ reservation, previous, next, at }: LogEntry): void {
    const expiry = this.#expiries.get(reservation ?? '');
    if (expiry === undefined || next < previous || at < expiry) return;
    if (at > this.#returnedBy(expiry))
      this.#find('late', `the stock of ${reservation} came back ${at - expiry} ms after its expiry`);
    if (this.#returnedBy(expiry) === expiry + this.#history.lateMs)
      this.#latestMs = Math.max(this.#latestMs, at - expiry);
  }
}

/** What names an entry of the log: its id, or the reservation that has taken or returned stock of its product. */
const placeKey = ({ id, reservation, product, previous, next }: LogEntry) =>
  reservation === null ? id : `${reservation} ${product} ${next < previous ? 'taken' : 'back'}`;

function toChangeOperation(change: Change): Omit<ProductOperation, 'place'> {
  const { call, end, product, mode, requested, clamp, expected, result } = change;
  const apply = (stock: Stock): Stock | null => {
    if (result === null) return stock;
    const { inventory } = stock;
    const wanted = mode === 'set' ? requested : inventory + requested;
    const next = Math.max(0, Math.min(STOCK_MAX, wanted));
    const isRefused = (expected !== null && expected !== inventory) || (!clamp && next !== wanted);
    if ('level' in result) return isRefused && result.level === inventory ? stock : null;
    return !isRefused && result.previous === inventory && result.next === next ? { ...stock, inventory: next } : null;
  };
  const told = result === null ? '' : JSON.stringify(result);
  return { call, end, apply, text: () => `the ${mode} ${requested} of ${product} with the result ${told}` };
}

function isEnd(operation: Operation): operation is End {
  return operation.kind === 'consume' || operation.kind === 'release' || operation.kind === 'extend';
}

/** Partial consumptions come before the end, in the order of what they have consumed. */
function stageOf({ result }: End): number {
  if (!('id' in result)) return 0;
  const consumed = result.items.reduce((sum, item) => sum + item.consumed, 0);
  return result.status === 'held' ? consumed : Number.MAX_SAFE_INTEGER;
}

/** Whether the result of a consumption or release follows from the items before it. */
function isAllowed({ kind, items: asked, keepsRest, result }: End, before: readonly ItemState[]): boolean {
  if (!('id' in result) || result.items.length !== before.length) return false;
  const wanted = before.map((item): ItemState => {
    if (kind === 'release') return { ...item, held: 0 };
    const sold = asked === null ? item.held : (asked.find(({ product }) => product === item.product)?.quantity ?? 0);
    return { ...item, held: keepsRest ? item.held - sold : 0, consumed: item.consumed + sold };
  });
  const isHeld = wanted.some(({ held }) => held > 0);
  const ended = kind === 'release' ? 'released' : 'consumed';
  return (
    result.status === (isHeld ? 'held' : ended) &&
    wanted.every((item, index) => {
      const told = result.items[index];
      const isSame = told?.product === item.product && told.quantity === item.quantity;
      return isSame && told.held === item.held && told.consumed === item.consumed && item.held >= 0;
    })
  );
}
