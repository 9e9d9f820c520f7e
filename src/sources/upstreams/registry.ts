// The vendors that the service reads. A new vendor needs a folder beside this file and an entry here (docs/adding-a-marketplace.md). Tasks,
// settings and help are listed in this order.

import { das } from './das/vendor.ts';
import { feed } from './feed/vendor.ts';
import { magicEden } from './magic-eden/vendor.ts';
import { openSea } from './opensea/vendor.ts';
import { prices } from './prices/vendor.ts';
import type { Vendor } from './vendor.ts';

export const VENDORS: readonly Vendor[] = [openSea, magicEden, das, feed, prices];
