// Faults that are put into an accepted history of a shop, each of which the checker must find.

import assert from 'node:assert/strict';
import type { Change, End, History, Operation, Read, ReservationState, Reserve } from '../../oracle/history/history.ts';

type MadeChange = Change & { result: { previous: number; next: number; entry: string } };
const isMade = (one: Operation): one is MadeChange =>
  one.kind === 'change' && one.result !== null && 'entry' in one.result && one.result.next !== one.result.previous;
const isHeld = (one: Operation): one is Reserve & { result: ReservationState } =>
  one.kind === 'reserve' && 'id' in one.result;
const isDone = (one: Operation): one is End & { result: ReservationState } =>
  (one.kind === 'consume' || one.kind === 'release') && 'id' in one.result;

/** The first operation of a kind that also fits, from the middle of the history on. */
function find<T extends Operation>(
  { operations }: History,
  is: (one: Operation) => one is T,
  fits: (one: T) => boolean = () => true,
): T {
  const middle = operations.slice(operations.length >> 1);
  return (
    [...middle, ...operations].find((one): one is T => is(one) && fits(one)) ?? assert.fail('the history is too short')
  );
}

function remove<T>(list: T[], wanted: (one: T) => boolean): T {
  const index = list.findIndex(wanted);
  return list.splice(index, 1)[0] ?? assert.fail('there is nothing to remove');
}

type Fault = { name: string; kind: string; plant: (history: History) => void };

/** What a service could do wrong, as the clients would see it. `kind`: a finding that names it. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'an acknowledged change had no effect',
    kind: 'log',
    plant: (history) => void remove(history.log, ({ id }) => id === find(history, isMade).result.entry),
  },
  {
    name: 'a request took effect twice',
    kind: 'log',
    plant: (history) => {
      const { entry } = find(history, isMade).result;
      const index = history.log.findIndex(({ id }) => id === entry);
      const made = history.log[index] ?? assert.fail();
      const change = made.next - made.previous;
      const later = history.log.slice(index + 1).filter(({ product }) => product === made.product);
      for (const one of later) Object.assign(one, { previous: one.previous + change, next: one.next + change });
      history.log.splice(index + 1, 0, { ...made, id: 'again', previous: made.next, next: made.next + change });
    },
  },
  {
    name: 'two changes began with the same stock',
    kind: 'contradiction',
    plant: (history) => {
      const isNext = (one: Operation): one is MadeChange =>
        isMade(one) && one.mode === 'adjustment' && one.requested > 0;
      const { result } = find(history, isNext);
      const change = result.next - result.previous;
      Object.assign(result, { previous: result.previous - change * 1_000, next: result.next - change * 1_000 });
    },
  },
  {
    name: 'a change was made although the stock was not the expected one',
    kind: 'contradiction',
    plant: (history) => {
      const change = find(history, isMade);
      change.expected = change.result.previous + 1;
    },
  },
  {
    name: 'a read returned a stock that was no longer true',
    kind: 'contradiction',
    plant: (history) => {
      const isRead = (one: Operation): one is Read => one.kind === 'read';
      const levelsAround = ({ product, call }: Read) =>
        history.log.filter((one) => one.product === product && Math.abs(one.at - call) < 5_000).map(({ next }) => next);
      const old = (read: Read) =>
        history.log.find(
          ({ product, at, next }) =>
            product === read.product && at < read.call - 100 && !levelsAround(read).includes(next),
        );
      const stale = find(history, isRead, (read) => !levelsAround(read).includes(history.products[0]?.inventory ?? 0));
      stale.inventory = old(stale)?.next ?? history.products[0]?.inventory ?? 0;
    },
  },
  {
    name: 'more was reserved than there was',
    kind: 'contradiction',
    plant: (history) => {
      const isHuge = find(history, isHeld);
      const [item] = isHuge.items;
      const [state] = isHuge.result.items;
      if (!item || !state) assert.fail();
      item.quantity += 1_000;
      Object.assign(state, { quantity: item.quantity, held: item.quantity });
    },
  },
  {
    name: 'a reservation was refused although there was enough',
    kind: 'contradiction',
    plant: (history) => {
      const refused = history.operations.find((one): one is Reserve => one.kind === 'reserve' && 'short' in one.result);
      const { result } = refused ?? assert.fail('no reservation was refused');
      if ('short' in result) for (const short of result.short) short.level = -1;
    },
  },
  {
    name: 'a reservation holds only some of its items',
    kind: 'items',
    plant: (history) => void find(history, isHeld, ({ items }) => items.length > 1).result.items.pop(),
  },
  {
    name: 'a reservation was sold twice',
    kind: 'ended twice',
    plant: (history) => {
      const sold = find(history, isDone, ({ kind, result }) => kind === 'consume' && result.status === 'consumed');
      history.operations.push({ ...structuredClone(sold), call: sold.end + 1, end: sold.end + 2 });
    },
  },
  {
    name: 'a reservation was sold after its expiry',
    kind: 'too late',
    plant: (history) => {
      const sold = find(history, isDone, ({ kind }) => kind === 'consume');
      for (const one of history.operations) {
        const isOf =
          (one.kind === 'reserve' && 'id' in one.result && one.result.id === sold.id) ||
          (one.kind === 'extend' && one.id === sold.id);
        if (isOf && 'expiresAt' in one.result) one.result.expiresAt = sold.call - 1;
      }
    },
  },
  {
    name: 'released stock did not come back',
    kind: 'log',
    plant: (history) => {
      const released = find(
        history,
        isDone,
        ({ kind, items, result }) =>
          kind === 'release' && items === null && result.items.some(({ consumed }) => consumed === 0),
      );
      const entry = history.log.findIndex(
        ({ reservation, previous, next }) => reservation === released.id && next > previous,
      );
      const lost = history.log.splice(entry, 1)[0] ?? assert.fail();
      for (const one of history.log.slice(entry)) {
        if (one.product !== lost.product) continue;
        one.previous -= lost.next - lost.previous;
        one.next -= lost.next - lost.previous;
      }
    },
  },
  {
    name: 'the stock of an expired reservation came back too late',
    kind: 'late',
    plant: (history) => {
      const isEnded = new Set(history.operations.filter(isDone).map(({ id }) => id));
      const back = history.log.find(
        ({ reservation, previous, next }) => reservation !== null && next > previous && !isEnded.has(reservation),
      );
      (back ?? assert.fail('no reservation has expired')).at += 24 * 3_600_000;
    },
  },
];
