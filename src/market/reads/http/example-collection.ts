// Defines the collection that all examples in the OpenAPI documents use. The sample marketplace contains this collection, so a new installation with
// the sample marketplace responds to the requests in the examples.

import { createChains } from '../../../platform/core/chains.ts';
import type { Price, Rates } from '../../../platform/core/price.ts';
import { toPrice } from '../../../platform/core/price.ts';

const chain = 'ethereum';
const contractAddress = '0x3dd4e9f052dbe1a6e836dc9b9787879836f2c5dd';

export const EXAMPLE_COLLECTION = {
  chain,
  contractAddress,
  id: `${chain}_${contractAddress}`,
  slug: 'harbour-lights',
  name: 'Harbour Lights',
};

/** A token that an external marketplace lists. */
export const EXAMPLE_TOKEN = { tokenId: '249', seller: '0x6ea0729f1fb210cc8f48018f6d8102da12f2b41e' };

export const EXAMPLE_TIME = '2026-06-01T09:00:00.000Z';

const ETHEREUM = createChains().get(chain);
const RATES: Rates = new Map([['ETH', { symbol: 'ETH', usd: 2_500, at: 0 }]]);

export function toExamplePrice(milliEth: bigint): Price {
  if (!ETHEREUM) throw new Error(`the chain ${chain} is unknown`);
  return toPrice(milliEth * 10n ** 15n, ETHEREUM, RATES, 0);
}
