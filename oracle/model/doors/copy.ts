// A copy of the open orders that a client keeps with the pages of the stream alone (docs/explore.md, "The stream"): "the last change of an order says its state:
// after `list`, `reprice` and `revalidate` it can be bought, after `bid` and `bid-revalidate` it can be accepted, and after the other kinds neither".

import { Difference } from '../errors.ts';
import type { ServiceDoors } from './service-doors.ts';

export type CopiedOrder = { orderId: string; collectionId: string; isBid: boolean; asset: string; raw: string };

const BID_OPENS = new Set(['bid', 'bid-revalidate']);
const OPENS = new Set(['list', 'reprice', 'revalidate', ...BID_OPENS]);
const CLOSES = new Set(['fill', 'cancel', 'expire', 'invalidate', 'bid-cancel', 'bid-expire', 'bid-invalidate']);
const BEGINNING = '0';

type Activity = {
  offset: string;
  kind: string;
  collectionId: string | null;
  tokenId: string | null;
  mint: string | null;
  orderId: string | null;
  price: { raw: string } | null;
  voids: string[] | null;
};

export class StreamCopy {
  readonly #doors: ServiceDoors;
  readonly #orders = new Map<string, CopiedOrder>();
  #offset = BEGINNING;
  /** The ids of orders, as the events name them. */
  readonly orderIds = new Set<string>();
  /** All events that were received, without those of removed collections. */
  log: Activity[] = [];
  /** The last event of each order, and the last floor of each collection. */
  readonly #last = new Map<string, Activity>();

  constructor(doors: ServiceDoors) {
    this.#doors = doors;
  }

  /** Reads the stream to its present end. */
  async follow(): Promise<void> {
    for (;;) {
      const { body } = await this.#doors.get(`/explore/v1/stream/pages/${this.#offset}`);
      const { data, next } = body as { data: Activity[]; next: string | null };
      for (const activity of data) {
        if (activity.offset <= this.#offset)
          throw new Difference(`the stream sent ${activity.offset} again or late, after ${this.#offset}`);
        this.#offset = activity.offset;
        this.#checkRepeated(activity);
        this.#apply(activity);
        this.log.push(activity);
      }
      if (next === null) return;
    }
  }

  /** Explore, "Offsets": "an offset of another epoch" is a 410. Then the client reads everything again. */
  async begin(): Promise<void> {
    const path = `/explore/v1/stream/pages/${this.#offset}`;
    const { status } = await this.#doors.get(path);
    if (this.#offset !== BEGINNING && status !== 410)
      throw new Difference(`${path} of before a restore\n    model:  410\n    served: ${status}`);
    this.#offset = BEGINNING;
    this.#orders.clear();
    this.#last.clear();
    this.log = [];
  }

  /** The orders that can be bought. */
  of(collectionId: string): CopiedOrder[] {
    return [...this.#orders.values()].filter((order) => order.collectionId === collectionId && !order.isBid);
  }

  /** The bids that can be accepted. */
  bidsOf(collectionId: string): CopiedOrder[] {
    return [...this.#orders.values()].filter((order) => order.collectionId === collectionId && order.isBid);
  }

  /** The price of the last event of the kind `floor`. Null if there is none. */
  floorOf(collectionId: string): string | null {
    return this.#last.get(collectionId)?.price?.raw ?? null;
  }

  /** Explore, "Activity": an event of an order, or of a floor, says that something has changed, so it differs from the one before. */
  #checkRepeated(activity: Activity): void {
    const { kind, orderId, collectionId } = activity;
    // "A change that was taken back" is no earlier state.
    for (const [of, { offset }] of this.#last) if (activity.voids?.includes(offset)) this.#last.delete(of);
    const of = orderId ?? (kind === 'floor' ? collectionId : null);
    if (of === null || kind === 'sale') return;
    const before = this.#last.get(of);
    const isSameFloor = kind === 'floor' && before?.price?.raw === activity.price?.raw;
    if (before && (isSameFloor || toText(before) === toText(activity)))
      throw new Difference(`the stream repeats an event: ${JSON.stringify([before, activity])}`);
    this.#last.set(of, activity);
  }

  /** Explore, "Removals": "its earlier events are no longer in the stream. A copy deletes what it has of this collection". */
  #forget(collectionId: string): void {
    this.log = this.log.filter((one) => one.collectionId !== collectionId);
    for (const [of, one] of this.#last) if (one.collectionId === collectionId) this.#last.delete(of);
    for (const [id, order] of this.#orders) if (order.collectionId === collectionId) this.#orders.delete(id);
  }

  #apply({ kind, orderId, collectionId, tokenId, mint, price }: Activity): void {
    if (kind === 'remove' && collectionId !== null) this.#forget(collectionId);
    if (orderId === null || collectionId === null) return;
    this.orderIds.add(orderId);
    if (CLOSES.has(kind)) this.#orders.delete(orderId);
    if (OPENS.has(kind))
      this.#orders.set(orderId, {
        orderId,
        collectionId,
        isBid: BID_OPENS.has(kind),
        asset: tokenId ?? mint ?? '',
        raw: price?.raw ?? 'null',
      });
  }
}

/** An event without its place in the log. */
function toText({ offset: _offset, ...activity }: Activity): string {
  return JSON.stringify(activity);
}
