// Reads the activity of collections, tokens and wallets, newest first. The rows come from the activity log. The rows of a
// collection or a token also come from the stored sales, because the log does not have past sales (docs/decisions/0013-activity-log.md).

import type { ActivityRow } from '../activity/queries/activity-rows.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { Market } from '../reads/market.ts';
import { requireValue, valueOrNull } from '../reads/market-source.ts';
import type { Sale } from '../index/queries/sales.ts';
import { listSales } from '../index/queries/sales.ts';
import type { ObservedToken } from '../index/queries/tokens.ts';
import { listObservedTokens, toTokenKeyText } from '../index/queries/tokens.ts';
import type { ActivityFilter, LogPosition } from './queries/activity.ts';
import { listActivity, listLoggedSales } from './queries/activity.ts';

/** `epoch` and `position` are null for a sale that is not in the log. */
export type Activity = Omit<ActivityRow, 'epoch' | 'position' | 'fact' | 'origin'> & {
  epoch: string | null;
  position: number | null;
  isOwn: boolean;
};

/** The last row of the activity log, and the last stored sale, that this page or an earlier page has shown or skipped. Null if there is none. */
export type ActivityPosition = { log: LogPosition | null; sale: { soldAt: number; key: string } | null };

export type ActivityPage = { rows: Activity[]; next: ActivityPosition | null };

export const NEWEST: ActivityPosition = { log: null, sale: null };

/** Throws `unavailable` when the log cannot be read, and `upstream_error` when the stored sales cannot be read. */
export async function readActivity(
  market: Market,
  filter: ActivityFilter,
  { after, limit }: { after: ActivityPosition; limit: number },
): Promise<ActivityPage> {
  const { collectionId, asset, account, kinds } = filter;
  const read = market.activity.withinOneDeadline();
  // Of each list, one row more than fits on the page is read, to find out whether there is a next page.
  const readsSales = collectionId !== null && account === null && kinds.includes('sale');
  const sales = readsSales
    ? requireValue(
        await market.pastSales.read((db: Queryable) =>
          listSales(db, collectionId, { before: after.sale, asset, withBundles: true, limit: limit + 1 }),
        ),
        'upstream_error',
      )
    : [];
  // The log is read last. A sale that is merged into it in the meantime is then a row of it, and not missing from both lists.
  const logged = requireValue(await read((db) => listLoggedSales(db, sales)), 'unavailable');
  const log = requireValue(
    await read((db) => listActivity(db, filter, { after: after.log, limit: limit + 1 })),
    'unavailable',
  );
  const facts = log.flatMap(({ fact, voidedBy }) => (voidedBy === null ? (fact ?? []) : []));
  return toPage({ log, sales, logged: logged.union(new Set(facts)) }, { after, limit });
}

/** The tokens of the rows, by `toTokenKeyText`. Null when the indexer cannot be read. */
export async function readTokensOf(
  market: Market,
  rows: readonly Activity[],
): Promise<ReadonlyMap<string, Pick<ObservedToken, 'name' | 'image'>> | null> {
  const keys = rows.flatMap(({ collectionId, asset }) =>
    collectionId === null || asset === null ? [] : [{ collectionId, asset }],
  );
  const distinct = [...new Map(keys.map((key) => [toTokenKeyText(key), key])).values()];
  if (distinct.length === 0) return new Map();
  return valueOrNull(await market.tokenOverlay.read((db) => listObservedTokens(db, distinct, { now: market.clock() })));
}

/**
 * Merges two lists that are sorted in the same way. A stored sale that is also in the log is skipped. If the sales that were read end before the page is
 * full and there are more, the page ends there: the log may have older rows than the next sale.
 */
function toPage(
  { log, sales, logged }: { log: readonly ActivityRow[]; sales: readonly Sale[]; logged: ReadonlySet<string> },
  { after, limit }: { after: ActivityPosition; limit: number },
): ActivityPage {
  const rows: Activity[] = [];
  const hasMoreSales = sales.length > limit;
  let [logRead, salesRead] = [0, 0];
  while (rows.length < limit) {
    const [change, sale] = [log[logRead], sales[salesRead]];
    if (!sale && hasMoreSales) break;
    if (sale && logged.has(sale.key) && (!change || change.at <= sale.soldAt)) salesRead += 1;
    else if (change && (!sale || change.at >= sale.soldAt)) {
      rows.push(toLogged(change));
      logRead += 1;
    } else if (sale) {
      if (!logged.has(sale.key)) rows.push(toPastSale(sale));
      salesRead += 1;
    } else break;
  }
  const isLast = logRead === log.length && salesRead === sales.length && !hasMoreSales;
  const [lastLogged, lastSale] = [log[logRead - 1], sales[salesRead - 1]];
  return {
    rows,
    next: isLast
      ? null
      : {
          log: lastLogged ? { at: lastLogged.at, position: lastLogged.position } : after.log,
          sale: lastSale ? { soldAt: lastSale.soldAt, key: lastSale.key } : after.sale,
        },
  };
}

/** A change as the log has it. */
export function toLogged({ origin, fact: _fact, ...row }: ActivityRow): Activity {
  return { ...row, isOwn: origin === 'main' && row.orderId !== null && row.marketplace === null };
}

function toPastSale({ soldAt, raw, seller, buyer, listingId, source, ...sale }: Sale): Activity {
  const { chain, collectionId, asset, tx, block, logIndex, quantity, payment, tokens } = sale;
  return {
    epoch: null,
    position: null,
    kind: 'sale',
    at: soldAt,
    chain,
    collectionId,
    asset,
    priceRaw: raw,
    from: seller,
    to: buyer,
    orderId: listingId,
    marketplace: source,
    tx,
    reason: null,
    block,
    logIndex,
    quantity,
    payment,
    tokens,
    reorgIds: null,
    voids: null,
    voidedBy: null,
    isOwn: false,
  };
}
