// Decodes the tokens of a sale of several tokens, as the tables of sales and of activity store them.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Decoder } from '../../../platform/database/rows.ts';
import { amount, assetId, list, nullable, object } from '../../../platform/database/rows.ts';

/** `quantity` is null if the number of units is not known. */
export type BundledToken = { asset: AssetId; quantity: bigint | null };

export const bundledTokens: Decoder<BundledToken[]> = list(object({ asset: assetId, quantity: nullable(amount) }));
