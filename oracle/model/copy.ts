// A copy of the open orders that a client keeps with the pages of the stream alone (docs/explore.md, "The stream"): "the last change of an order says its state:
// after list, reprice and revalidate it can be bought, after the other kinds it cannot".

import { Difference } from './errors.ts';
import type { ServiceDoors } from './service-doors.ts';

export type CopiedOrder = { orderId: string; collectionId: string; asset: string; raw: string };

const OPENS = new Set(['list', 'reprice', 'revalidate']);
const CLOSES = new Set(['fill', 'cancel', 'expire', 'invalidate']);
const BEGINNING = '0';

type Activity = {
  offset: string;
  kind: string;
  collectionId: string | null;
  tokenId: string | null;
  mint: string | null;
  orderId: string | null;
  price: { raw: string } | null;
};

export class StreamCopy {
  readonly #doors: ServiceDoors;
  readonly #orders = new Map<string, CopiedOrder>();
  #offset = BEGINNING;
  /** The ids of orders, as the events name them. */
  readonly orderIds = new Set<string>();
  /** All other events that were received. */
  log: Pick<Activity, 'offset' | 'kind' | 'collectionId'>[] = [];

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
        this.#apply(activity);
        this.log.push(activity);
      }
      if (next === null) return;
    }
  }

  of(collectionId: string): CopiedOrder[] {
    return [...this.#orders.values()].filter((order) => order.collectionId === collectionId);
  }

  /** Explore, "Removals": "its earlier events are no longer in the stream. A copy deletes what it has of this collection". */
  #forget(collectionId: string): void {
    this.log = this.log.filter((one) => one.collectionId !== collectionId);
    for (const [id, order] of this.#orders) if (order.collectionId === collectionId) this.#orders.delete(id);
  }

  #apply({ kind, orderId, collectionId, tokenId, mint, price }: Activity): void {
    if (kind === 'remove' && collectionId !== null) this.#forget(collectionId);
    if (orderId === null || collectionId === null) return;
    this.orderIds.add(orderId);
    if (CLOSES.has(kind)) this.#orders.delete(orderId);
    if (OPENS.has(kind))
      this.#orders.set(orderId, { orderId, collectionId, asset: tokenId ?? mint ?? '', raw: price?.raw ?? 'null' });
  }
}
