// The rule that says which part a stored sale has in the figures of its collection (docs/provenance.md). Every statement that sums or counts sales
// uses it. A sale is a row of lists if it has a price in base units (`price_raw`) and names one token.

import { OTHER_CURRENCY, UNKNOWN_ACCOUNT } from '../../../platform/core/sale-text.ts';

/**
 * The price of a sale that was read from a chain, if the logs do not give the price. Such a sale does not replace the report of a
 * marketplace, because the report has the price.
 */
export const UNKNOWN_PRICE = 'unknown';

/** SQL condition: the sale is from an account to itself. Such a sale is a row of lists, and has no part in volume, number of sales and history. */
const IS_SELF_TRADE = `coalesce(seller = buyer and seller !~ '${UNKNOWN_ACCOUNT.source}', false)`;

/**
 * SQL condition: the sale counts in the number of sales. A sale whose price is unknown or in another currency counts too. A sale at zero does not
 * count. A bundle is one stored sale, so it counts once. A sale whose price the chain does not show does not count, because the report of a marketplace
 * about it counts.
 */
export const IS_COUNTED = `price_raw is distinct from 0 and not ${IS_SELF_TRADE}
  and not (price = '${UNKNOWN_PRICE}' and block_number is not null)`;

/** SQL condition: the price or the currency of the sale cannot be read. While a counted sale is unread, the volume is not known. */
const IS_UNREAD = `(price_raw is null and price !~* '${OTHER_CURRENCY.source}')`;

/** The columns of the stored sums (`indexer.sale_hour`, `indexer.sale_total`). */
export const SUM_COLUMNS = 'volume_raw, sales, unread';

/**
 * SQL for the sums of sales that meet `IS_COUNTED`, in the order of `SUM_COLUMNS`. `sign` is an SQL expression: -1 for sales that are taken out of
 * the sums, otherwise 1. `unread`: how many of the sales cannot be read.
 */
export const saleSumsSql = (sign = '1'): string =>
  `coalesce(sum(${sign} * price_raw), 0) as volume_raw, coalesce(sum(${sign}), 0)::bigint as sales,
   coalesce(sum(${sign}) filter (where ${IS_UNREAD}), 0)::bigint as unread`;
