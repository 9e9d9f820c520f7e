// Entries of the change stream.

import type { Chain, Price } from './generated/marketplace.ts';

export type ActivityKind =
  | 'mint'
  | 'transfer'
  | 'burn'
  | 'list'
  | 'reprice'
  | 'sale'
  | 'fill'
  | 'cancel'
  | 'expire'
  | 'invalidate'
  | 'revalidate'
  | 'floor'
  | 'reorg';

/** A change of a market. All fields are always present. Null means that the field is not known, or does not apply to this kind. */
export type Activity = {
  /** The position in the stream. Offsets sort as text. */
  offset: string;
  kind: ActivityKind;
  at: string;
  chain: Chain | null;
  collectionId: string | null;
  tokenId: string | null;
  mint: string | null;
  price: Price | null;
  from: string | null;
  to: string | null;
  orderId: string | null;
  marketplace: string | null;
  tx: string | null;
  /** Why an order became invalid. */
  reason: string | null;
  /** The offsets of the entries that a reorganisation takes back. */
  voids: readonly string[] | null;
};
