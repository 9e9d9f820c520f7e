// Whether operations on one object can have happened one after the other, each at a moment between its call and its end: the algorithm of Wing and Gong
// with the memory of Lowe, as in Porcupine. It takes operations in the order of their calls, and goes back where an operation that has ended cannot be
// taken. A set of taken operations with the same state is tried once.

import type { Interval } from './history.ts';

/**
 * `apply`: the state after the operation. Null if the operation cannot have had its result in this state. `place`: operations with places happened in the
 * order of their places; null for an operation whose place among the others is not known.
 */
export type RegisterOperation<State> = Interval & {
  place: number | null;
  apply: (state: State) => State | null;
  text: () => string;
};

/**
 * Null if there is an order. Otherwise the operation that stopped the search in which most operations could be taken, and the state before it.
 * `toKey`: a text that differs for different states.
 */
export function findContradiction<State>(
  initial: State,
  operations: readonly RegisterOperation<State>[],
  toKey: (state: State) => string,
): string | null {
  const list = new EventList(operations);
  const tried = new Set<string>();
  const taken: { event: number; state: State }[] = [];
  const marks = new Marks(operations.length);
  const places = operations.flatMap(({ place }) => place ?? []).sort((a, b) => a - b);
  let placed = 0;
  let state = initial;
  let most = -1;
  let reason = '';
  for (let event = list.first(); event !== list.end;) {
    const operation = operations[list.operationOf(event)];
    if (operation && list.isCall(event)) {
      const isNext = operation.place === null || operation.place === places[placed];
      const after = isNext ? operation.apply(state) : null;
      if (after !== null) {
        marks.toggle(list.operationOf(event));
        const key = `${marks.text} ${toKey(after)}`;
        if (!tried.has(key)) {
          tried.add(key);
          taken.push({ event, state });
          state = after;
          if (operation.place !== null) placed += 1;
          list.take(event);
          event = list.first();
          continue;
        }
        marks.toggle(list.operationOf(event));
      }
      event = list.next(event);
      continue;
    }
    if (taken.length > most) {
      most = taken.length;
      reason = `${operation?.text()} cannot have happened, after ${most} of ${operations.length} operations, at ${toKey(state)}`;
    }
    const last = taken.pop();
    if (!last) return reason;
    state = last.state;
    if (operations[list.operationOf(last.event)]?.place !== null) placed -= 1;
    marks.toggle(list.operationOf(last.event));
    list.putBack(last.event);
    event = list.next(last.event);
  }
  return null;
}

/** The calls and ends of all operations in the order of time, as a linked list from which operations are taken out. */
class EventList {
  /** The number that stands for the end of the list. The event before the first one has the number after it. */
  readonly end: number;
  readonly #operation: Int32Array;
  readonly #isCall: Uint8Array;
  /** The end of the operation of a call. */
  readonly #partner: Int32Array;
  readonly #next: Int32Array;
  readonly #previous: Int32Array;

  constructor(operations: readonly Interval[]) {
    const count = operations.length * 2;
    const times = operations.flatMap(({ call, end }, operation) => [
      { time: call, isCall: true, operation },
      { time: end, isCall: false, operation },
    ]);
    // What ends at the moment of a call may have happened after it.
    times.sort((a, b) => a.time - b.time || Number(b.isCall) - Number(a.isCall));
    this.end = count;
    this.#operation = Int32Array.from(times, ({ operation }) => operation);
    this.#isCall = Uint8Array.from(times, ({ isCall }) => Number(isCall));
    const calls = new Int32Array(operations.length);
    this.#partner = new Int32Array(count);
    this.#next = new Int32Array(count + 2);
    this.#previous = new Int32Array(count + 2);
    for (const [event, { isCall, operation }] of times.entries()) {
      if (isCall) calls[operation] = event;
      else this.#partner[calls[operation] ?? 0] = event;
    }
    for (let event = 0; event < count; event += 1) {
      this.#next[event] = event + 1;
      this.#previous[event] = event === 0 ? count + 1 : event - 1;
    }
    this.#next[count + 1] = 0;
    this.#previous[count] = count === 0 ? count + 1 : count - 1;
    if (count === 0) this.#next[count + 1] = count;
  }

  first(): number {
    return this.#next[this.end + 1] ?? this.end;
  }

  next(event: number): number {
    return this.#next[event] ?? this.end;
  }

  isCall(event: number): boolean {
    return this.#isCall[event] === 1;
  }

  operationOf(event: number): number {
    return this.#operation[event] ?? 0;
  }

  /** Takes an operation out, given its call. */
  take(call: number): void {
    this.#unlink(call);
    this.#unlink(this.#partner[call] ?? 0);
  }

  /** Puts the operation back that was taken out last. */
  putBack(call: number): void {
    this.#link(this.#partner[call] ?? 0);
    this.#link(call);
  }

  #unlink(event: number): void {
    const [previous, next] = [this.#previous[event] ?? 0, this.#next[event] ?? 0];
    this.#next[previous] = next;
    this.#previous[next] = previous;
  }

  #link(event: number): void {
    this.#next[this.#previous[event] ?? 0] = event;
    this.#previous[this.#next[event] ?? 0] = event;
  }
}

/** A short name for the set of taken operations: the exclusive or of two random numbers of each. */
class Marks {
  readonly #numbers: Int32Array<ArrayBuffer>;
  #one = 0;
  #other = 0;

  constructor(count: number) {
    this.#numbers = new Int32Array(count * 2);
    // The generator fills at most 65,536 bytes at a time.
    for (let start = 0; start < this.#numbers.length; start += 16_384)
      crypto.getRandomValues(this.#numbers.subarray(start, start + 16_384));
  }

  get text(): string {
    return `${this.#one} ${this.#other}`;
  }

  toggle(operation: number): void {
    this.#one ^= this.#numbers[operation * 2] ?? 0;
    this.#other ^= this.#numbers[operation * 2 + 1] ?? 0;
  }
}
