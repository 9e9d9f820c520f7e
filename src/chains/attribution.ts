// Which marketplace a fill of a Seaport order belongs to: by its calldata, else by who received the fees.

import type { OrderFulfilled } from '../chain-log/chain-event.ts';
import { findMarketplaceByFeeRecipient, findMarketplaceByTag } from '../orders/seaport/deployments.ts';

/** A sale whose marketplace nobody knows. */
const UNKNOWN = 'unknown';

/** Whose fill it was: by the domain that signed it, else by whom the fees went to. */
export function toMarketplace({ domain, consideration }: Pick<OrderFulfilled, 'domain' | 'consideration'>): string {
  const named = domain === undefined ? null : findMarketplaceByTag(domain);
  if (named !== null) return named;
  for (const { recipient } of consideration) {
    const slug = findMarketplaceByFeeRecipient(recipient);
    if (slug !== null) return slug;
  }
  return UNKNOWN;
}
