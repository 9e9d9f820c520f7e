// The fields that identify and describe a collection in responses. CollectionSummary and CollectionDetail share them.

import Type from 'typebox';
import { PUBLISHED_CHAIN_IDS } from '../../../platform/core/chains.ts';
import type { Collection } from '../../../platform/core/collection.ts';
import { refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import { LISTED_IMAGE_LENGTH_MAX, toServedImage } from '../../../platform/core/image-url.ts';
import { EXAMPLE_COLLECTION } from './example-collection.ts';
import type { WirePrice } from './price.ts';

export const collectionParams = Type.Object({
  id: Type.String({
    minLength: 1,
    description: 'Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana).',
    examples: [EXAMPLE_COLLECTION.slug],
  }),
});

export const collectionIdentity = {
  id: Type.String({ description: 'Canonical collection id.' }),
  chain: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    enum: [...PUBLISHED_CHAIN_IDS, null],
    description: 'Chain value; null when no chain is known for the collection.',
  }),
  contractAddress: typeOrNull<string>(
    'string',
    'EVM contract (lower case) or Solana collection mint (case preserved): the address to use on-chain.',
  ),
  name: Type.String({ description: 'Display name.' }),
  slug: typeOrNull<string>('string', 'Platform slug; usable as `{id}`.'),
  image: typeOrNull<string>(
    'string',
    `Image URL. In a list, null if it has more than ${LISTED_IMAGE_LENGTH_MAX} characters, as an inline image (\`data:\`) may: the response about the single collection has it.`,
  ),
  banner: typeOrNull<string>('string', 'Banner image URL. In a list, null for the same reason as `image`.'),
  description: typeOrNull<string>(
    'string',
    'Description as its author wrote it, served unchanged. It may contain markup: escape it before it is put into a page.',
  ),
  tokenStandard: typeOrNull<string>('string', 'Token standard, such as ERC-721.'),
  royaltyBps: typeOrNull<number>('number', 'Royalty in basis points.'),
};

export const exampleCollectionIdentity = {
  ...EXAMPLE_COLLECTION,
  image: 'ipfs://bafybeihd5n3qwqk4m2hhuvqxkz3g6a/collection.png',
  banner: 'ipfs://bafybeihd5n3qwqk4m2hhuvqxkz3g6a/banner.png',
  description: 'Four hundred and twenty evenings in a harbour that is on no chart.',
  tokenStandard: 'ERC-721',
  royaltyBps: 500,
};

export function toCollectionIdentity(collection: Collection) {
  const { id, chain, contractAddress, name, slug, description, tokenStandard, royaltyBps } = collection;
  const image = toServedImage(collection.image);
  const banner = toServedImage(collection.banner);
  return { id, chain, contractAddress, name, slug, image, banner, description, tokenStandard, royaltyBps };
}

export const statsFloor = refOrNull<WirePrice>('Price', 'Cheapest seller ask; null when unknown.');

export const statsDescription = 'The statistics that are known at present. Null means unknown, never zero.';

/** A count or an amount that is not negative. */
export const countOrNull = (description: string) => typeOrNull<number>('number', description, { minimum: 0 });
