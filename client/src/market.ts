// The client of the public interfaces: the reads of `/v1` and `/explore/v1`, and the change stream.

import type { Operations } from './calls.ts';
import { createCalls } from './calls.ts';
import type { FollowOptions, StreamEvent } from './follow.ts';
import { follow } from './follow.ts';
import type { ExploreMethods } from './generated/explore.ts';
import { EXPLORE_OPERATIONS } from './generated/explore.ts';
import type { MarketplaceMethods } from './generated/marketplace.ts';
import { MARKETPLACE_OPERATIONS } from './generated/marketplace.ts';
import type { Page, Pages } from './pages.ts';
import { SnapshotOffsets } from './snapshot.ts';
import type { ClientOptions } from './transport.ts';
import { Transport } from './transport.ts';

export type * from './generated/explore.ts';
export type * from './generated/marketplace.ts';
export type { ActivityKind, FollowOptions, StreamEvent } from './follow.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export type { ClientErrorCode, ErrorCode, ErrorDetail, ServiceErrorCode } from './mercat-error.ts';
export { CHAIN_DECIMALS, formatAmount, parseAmount } from './amount.ts';
export { MercatError } from './mercat-error.ts';
export { Pages } from './pages.ts';

export type MarketClientOptions = ClientOptions & {
  /** A key with the scope `market:read`, which raises the rate limits. Nothing else needs a key. Keep the key on servers: a page would reveal it. */
  apiKey?: string;
  /**
   * `text`: amounts (`raw`) are decimal text and not a bigint, so that rows can be passed to `JSON.stringify`, caches and components. Default:
   * `bigint`.
   */
  amounts?: 'bigint' | 'text';
};

export type MarketReads = MarketplaceMethods & ExploreMethods;

/** What was read, and everything that has changed since. */
export type FollowedSnapshot<T> = {
  snapshot: T;
  /** `changes` has the events after this offset. */
  offset: string;
  /** May repeat changes that the snapshot already includes. So set the state that a change reports, instead of adding to the old state. */
  changes: AsyncGenerator<StreamEvent, void, undefined>;
};

export type MarketClient = MarketReads & {
  /** Yields activity as it happens. Connects again when the connection is lost. No event is missed or repeated. */
  follow(options?: FollowOptions): AsyncGenerator<StreamEvent, void, undefined>;
  /**
   * Reads a snapshot, and then follows the stream from the oldest offset of the snapshot's responses. `read` must make all its requests
   * with `reads`. At least one response must be of `/explore/v1`, because the responses of `/v1` have no offset.
   */
  snapshotThenFollow<T>(
    read: (reads: MarketReads) => Promise<T>,
    options?: Omit<FollowOptions, 'from'>,
  ): Promise<FollowedSnapshot<T>>;
};

/** A type of the client with each amount as decimal text, so that `JSON.stringify` accepts its rows. */
export type AmountsAsText<T> = T extends bigint
  ? string
  : T extends object
    ? { [K in keyof T]: AmountsAsText<T[K]> }
    : T;

/** The result of a read: a list in pages, or a response. */
type ResultWithTextAmounts<R> =
  R extends Pages<infer P>
    ? AmountsAsText<P> extends infer Q extends Page
      ? Pages<Q>
      : never
    : R extends Promise<infer V>
      ? Promise<AmountsAsText<V>>
      : never;

type ReadsWithTextAmounts = {
  [K in keyof MarketReads]: (
    ...parameters: Parameters<MarketReads[K]>
  ) => ResultWithTextAmounts<ReturnType<MarketReads[K]>>;
};

/** A market client whose rows can be passed to `JSON.stringify`. */
export type TextMarketClient = ReadsWithTextAmounts & {
  follow(options?: FollowOptions): AsyncGenerator<AmountsAsText<StreamEvent>, void, undefined>;
  snapshotThenFollow<T>(
    read: (reads: ReadsWithTextAmounts) => Promise<T>,
    options?: Omit<FollowOptions, 'from'>,
  ): Promise<
    Omit<FollowedSnapshot<T>, 'changes'> & { changes: AsyncGenerator<AmountsAsText<StreamEvent>, void, undefined> }
  >;
};

const OPERATIONS: Operations = { ...MARKETPLACE_OPERATIONS, ...EXPLORE_OPERATIONS };

export function createMarketClient(options: MarketClientOptions & { amounts: 'text' }): TextMarketClient;
export function createMarketClient(options: MarketClientOptions & { amounts?: 'bigint' }): MarketClient;
export function createMarketClient({ apiKey, amounts, headers, ...options }: MarketClientOptions): unknown {
  const authorization = apiKey === undefined ? undefined : `Bearer ${apiKey}`;
  const all = { ...options, headers: { ...headers, ...(authorization && { authorization }) } };
  const transport = new Transport(all, amounts);
  const client: MarketClient = {
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
  return client;
}
