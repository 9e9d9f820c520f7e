// The client of the public interfaces: the reads of `/v1` and `/explore/v1`, and the change stream.

import type { Operations } from './calls.ts';
import { createCalls } from './calls.ts';
import type { FollowOptions } from './follow.ts';
import { follow } from './follow.ts';
import type { Activity, ExploreMethods } from './generated/explore.ts';
import { EXPLORE_OPERATIONS } from './generated/explore.ts';
import type { MarketplaceMethods } from './generated/marketplace.ts';
import { MARKETPLACE_OPERATIONS } from './generated/marketplace.ts';
import { SnapshotOffsets } from './snapshot.ts';
import type { ClientOptions } from './transport.ts';
import { Transport } from './transport.ts';

export type * from './generated/explore.ts';
export type * from './generated/marketplace.ts';
export type { ActivityKind, FollowOptions } from './follow.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export type { ClientErrorCode, ErrorCode, ErrorDetail, ServiceErrorCode } from './mercat-error.ts';
export { CHAIN_DECIMALS, formatAmount, parseAmount } from './amount.ts';
export { MercatError } from './mercat-error.ts';
export { Pages } from './pages.ts';

export type MarketClientOptions = ClientOptions & {
  /** A key with the scope `market:read`, which raises the rate limits. Nothing else needs a key. Keep the key on servers: a page would reveal it. */
  apiKey?: string;
};

export type MarketReads = MarketplaceMethods & ExploreMethods;

/** What was read, and everything that has changed since. */
export type FollowedSnapshot<T> = {
  snapshot: T;
  /** `changes` has the events after this offset. */
  offset: string;
  /** May repeat changes that the snapshot already includes. So set the state that a change reports, instead of adding to the old state. */
  changes: AsyncGenerator<Activity, void, undefined>;
};

export type MarketClient = MarketReads & {
  /** Yields activity as it happens. Connects again when the connection is lost. No event is missed or repeated. */
  follow(options?: FollowOptions): AsyncGenerator<Activity, void, undefined>;
  /**
   * Reads a snapshot, and then follows the stream from the oldest offset of the snapshot's responses. `read` must make all its requests
   * with `reads`. At least one response must be of `/explore/v1`, because the responses of `/v1` have no offset.
   */
  snapshotThenFollow<T>(
    read: (reads: MarketReads) => Promise<T>,
    options?: Omit<FollowOptions, 'from'>,
  ): Promise<FollowedSnapshot<T>>;
};

const OPERATIONS: Operations = { ...MARKETPLACE_OPERATIONS, ...EXPLORE_OPERATIONS };

export function createMarketClient({ apiKey, headers, ...options }: MarketClientOptions): MarketClient {
  const authorization = apiKey === undefined ? undefined : `Bearer ${apiKey}`;
  const transport = new Transport({ ...options, headers: { ...headers, ...(authorization && { authorization }) } });
  return {
    ...createCalls<MarketReads>(transport, OPERATIONS, ({ body }) => body),
    follow: (followOptions) => follow(transport, followOptions),
    snapshotThenFollow: async (read, followOptions) => {
      const offsets = new SnapshotOffsets();
      const reads = createCalls<MarketReads>(transport, OPERATIONS, ({ body }) => {
        offsets.note(body);
        return body;
      });
      const snapshot = await read(reads);
      const offset = offsets.oldest;
      return { snapshot, offset, changes: follow(transport, { ...followOptions, from: offset }) };
    },
  };
}
