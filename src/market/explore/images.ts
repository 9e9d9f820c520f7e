// Reads the stored image of a token, or the image or banner of a collection.

import { parseAssetId } from '../../platform/core/address.ts';
import { parseCollectionId } from '../../platform/core/collection.ts';
import type { InlineImage } from '../../platform/core/image-url.ts';
import { parseInlineImage } from '../../platform/core/image-url.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { listObservedTokens, toTokenKeyText } from '../index/queries/tokens.ts';
import type { Market } from '../reads/market.ts';
import { requireValue } from '../reads/market-source.ts';
import { resolveCollection } from '../reads/resolve-collection.ts';

export const COLLECTION_IMAGES = ['image', 'banner'] as const;
type CollectionImage = (typeof COLLECTION_IMAGES)[number];

/**
 * `name`: an image of the collection, or the id or mint of a token. Null if there is no such inline image: the service does not load images from other
 * hosts. Throws `upstream_error` when the indexer, and `unavailable` when the collection records cannot be read.
 */
export async function readInlineImage(
  market: Market,
  { collectionId, name }: { collectionId: string; name: string },
): Promise<InlineImage | null> {
  const isOfCollection = COLLECTION_IMAGES.some((one) => one === name);
  const url = isOfCollection
    ? (await resolveCollection(market, collectionId))[name as CollectionImage]
    : await readTokenImage(market, collectionId, name);
  return url === null ? null : parseInlineImage(url);
}

async function readTokenImage(market: Market, collectionId: string, name: string): Promise<string | null> {
  const named = parseCollectionId(market.chains, collectionId);
  const chain = named && market.chainOf(named.chainId);
  const asset = chain && parseAssetId(chain.family, name);
  if (!named || !asset) return null;
  const key = { collectionId: `${named.chainId}_${named.addressLower}`, asset };
  const read = (db: Queryable) => listObservedTokens(db, [key], { now: market.clock(), largeImages: true });
  const token = requireValue(await market.tokenOverlay.read(read), 'upstream_error').get(toTokenKeyText(key));
  return token && !token.isBurned ? token.image : null;
}
