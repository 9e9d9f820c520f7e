// The one class that makes work wait for its turn. Work holds a place while it runs. The places are divided by key, such as the id of a shop, so
// that a busy key leaves places to the others. Waiting work is in this process and uses no connection.

import { Deadline } from '../core/deadline.ts';
import { ServiceError } from '../core/errors.ts';
import { DeadlineExceeded, raceDeadline } from './deadline.ts';

export type FairQueueOptions = {
  /** How many places a key may hold while all keys together hold `taken` places. */
  places: (taken: number) => number;
  /** How many callers with one key may wait. Further callers are refused immediately. Default: no limit. */
  waitingMax?: number;
  /** A waiting caller is refused if no place of its key was taken or left for this long. Default: no limit. */
  stallMs?: number;
  /** The error of a caller that is refused. Default: DeadlineExceeded. */
  refusal?: () => Error;
};

type Waiter = { readonly since: number; readonly place: PromiseWithResolvers<void>; hasPlace: boolean };
/** The callers with one key, in the order of their arrival. `stalls`: when they are refused unless a place is taken or left before. */
type Line = { readonly waiting: Set<Waiter>; taken: number; stalls: Deadline };

/** The refusal of a request that would wait too long for its turn. */
export function tooMany(): ServiceError {
  return new ServiceError('unavailable', 'Too many requests wait for the same record, try again soon');
}

/** The key of callers that name none. They share all places. */
const ANY = '';

export class FairQueue {
  readonly #places: FairQueueOptions['places'];
  readonly #waitingMax: number;
  readonly #stallMs: number;
  readonly #refusal: () => Error;
  readonly #lines = new Map<string, Line>();
  #taken = 0;

  constructor(options: FairQueueOptions) {
    this.#places = options.places;
    this.#waitingMax = options.waitingMax ?? Number.POSITIVE_INFINITY;
    this.#stallMs = options.stallMs ?? Number.POSITIVE_INFINITY;
    this.#refusal = options.refusal ?? (() => new DeadlineExceeded());
  }

  /** How many places the key holds. */
  takenBy(key: string): number {
    return this.#lines.get(key)?.taken ?? 0;
  }

  /** How many callers wait. */
  get waiting(): number {
    let waiting = 0;
    for (const line of this.#lines.values()) waiting += line.waiting.size;
    return waiting;
  }

  /** Since when the first waiting caller with the key waits, as `performance.now()`. Null if none waits. */
  waitingSince(key: string): number | null {
    return this.#lines.get(key)?.waiting.values().next().value?.since ?? null;
  }

  /** Runs the work while it holds a place. Throws the refusal if it gets no place by the deadline. */
  async take<T>(work: () => Promise<T>, deadline = Deadline.none, key = ANY): Promise<T> {
    await this.enter(deadline, key);
    try {
      return await work();
    } finally {
      this.leave(key);
    }
  }

  /** Takes a place if one is free. Returns whether it did. The caller must then call `leave`. */
  tryEnter(key = ANY): boolean {
    const line = this.#lineOf(key);
    if (line.taken < this.#places(this.#taken)) {
      this.#giveTo(line);
      return true;
    }
    this.#drop(key, line);
    return false;
  }

  /** Takes a place, or waits until it gets one from a caller that leaves. The caller must then call `leave`. */
  async enter(deadline = Deadline.none, key = ANY): Promise<void> {
    if (this.tryEnter(key)) return;
    const line = this.#lineOf(key);
    if (line.waiting.size >= this.#waitingMax) {
      this.#drop(key, line);
      throw this.#refusal();
    }
    const waiter: Waiter = { since: performance.now(), place: Promise.withResolvers(), hasPlace: false };
    line.waiting.add(waiter);
    for (;;) {
      const { stalls } = line;
      const end = deadline.earlierOf(stalls);
      try {
        return await raceDeadline(waiter.place.promise, end);
      } catch {
        // This caller got a place just before its deadline, and uses it.
        if (waiter.hasPlace) return;
        if (line.waiting.has(waiter)) {
          if (line.stalls !== stalls && end !== deadline) continue;
          line.waiting.delete(waiter);
          this.#drop(key, line);
        }
        throw this.#refusal();
      }
    }
  }

  /** Gives the place to the caller with the key `next` that has waited longest. If none waits, the place becomes free. */
  leave(key = ANY, next = key): void {
    const line = this.#lineOf(key);
    line.taken -= 1;
    this.#taken -= 1;
    this.#noteMove(line);
    const receiver = this.#lines.get(next);
    const waiter = receiver?.waiting.values().next().value;
    if (receiver && waiter) {
      receiver.waiting.delete(waiter);
      this.#giveTo(receiver);
      waiter.hasPlace = true;
      waiter.place.resolve();
    }
    this.#drop(key, line);
  }

  /** Refuses all waiting callers with the key. */
  refuseWaiting(key: string): void {
    const line = this.#lineOf(key);
    for (const { place } of line.waiting) place.reject();
    line.waiting.clear();
    this.#drop(key, line);
  }

  /** Forgets a key that holds no place and waits for none. */
  #drop(key: string, line: Line): void {
    if (line.taken === 0 && line.waiting.size === 0) this.#lines.delete(key);
  }

  #giveTo(line: Line): void {
    line.taken += 1;
    this.#taken += 1;
    this.#noteMove(line);
  }

  #noteMove(line: Line): void {
    if (this.#stallMs !== Number.POSITIVE_INFINITY) line.stalls = Deadline.after(this.#stallMs);
  }

  #lineOf(key: string): Line {
    let line = this.#lines.get(key);
    if (!line) {
      line = { waiting: new Set(), taken: 0, stalls: Deadline.none };
      this.#lines.set(key, line);
    }
    return line;
  }
}
