// What `/explore/v1` must serve about the bids of one collection. "explore" is docs/explore.md.

import type { Bid } from '../rules/bids.ts';
import { accepts, bidsOf, kindOf, openBids } from '../rules/bids.ts';
import type { Collection } from '../rules/market.ts';
import { statusAt } from '../rules/market.ts';
import { isEvm } from '../rules/records.ts';
import { EVM_TOKENS } from '../steps.ts';
import type { Check, Json } from './check.ts';
import { dataOf, rawOf } from './check.ts';
import type { Context } from './context.ts';
import { EXPLORE, rowsOf } from './context.ts';

type Read = Check['compare'];

export function bidChecks(context: Context, collection: Collection): Check[] {
  const { copy, reader } = context;
  const { id } = collection;
  if (!isEvm(collection)) return [];
  const open = openBids(reader, id);
  const check = (path: string, compare: Read): Check => ({ path, of: id, compare });
  return [
    check(`open bids of ${id} in a copy that follows the stream`, async () => [
      open.map(({ asset, priceRaw, orderId }) => `${asset ?? ''} ${priceRaw} ${orderId}`).toSorted(),
      copy
        .bidsOf(id)
        .map(({ asset, raw, orderId }) => `${asset} ${raw} ${orderId}`)
        .toSorted(),
    ]),
    ...listsOf(context, collection).map(([query, bids, sortBy]) => {
      const path = `${EXPLORE}/orders?side=bid&${query}`;
      return check(path, async () => {
        const rows = (await rowsOf(context, path)) ?? [];
        const values = rows.map(sortBy);
        const isSorted = values.every((value, index) => index === 0 || (values[index - 1] ?? value) <= value);
        return [
          { rows: bids.map((bid) => describe(bid)).toSorted(), isSorted: true },
          { rows: rows.map(describeServed).toSorted(), isSorted },
        ];
      });
    }),
    ...bidsOf(reader, id).map((bid) => {
      const path = `${EXPLORE}/orders/${bid.orderId}`;
      return check(path, async () => {
        const { status, body } = await context.doors.get(path);
        const expected = [statusAt(bid, reader.now), bid.orderId, 'bid', kindOf(bid), bid.maker];
        if (status !== 200) return [expected, status];
        const { status: state, orderId, side, kind, listing } = dataOf(body);
        return [expected, [state, orderId, side, kind, (listing as Json)['buyer']]];
      });
    }),
  ];
}

type List = [query: string, bids: readonly Bid[], sortBy: (row: Json) => bigint];

/** Explore, "Orders" and "Bids": "`sort=price` begins with the highest. With `token`, the list has the bids that the owner of this token can accept". */
function listsOf({ reader }: Context, { id, chain, contractAddress }: Collection): List[] {
  const all = bidsOf(reader, id);
  const open = openBids(reader, id);
  const newestFirst = (row: Json) => -BigInt(Date.parse(String(row['timestamp'])));
  const bestFirst = (row: Json) => -BigInt(rawOf(row['proceeds']) ?? 0);
  return [
    [`collection=${id}`, open, newestFirst],
    [`collection=${id}&sort=price`, open, bestFirst],
    [`collection=${id}&sort=expires`, open, (row) => BigInt(Date.parse(String(row['expiresAt'])))],
    ...(['item', 'collection', 'trait'] as const).map((kind): List => [
      `collection=${id}&kind=${kind}`,
      open.filter((bid) => kindOf(bid) === kind),
      newestFirst,
    ]),
    ...['cancelled', 'expired', 'filled', 'dormant'].map((status): List => [
      `collection=${id}&status=${status}`,
      all.filter((bid) => statusAt(bid, reader.now) === status),
      newestFirst,
    ]),
    ...[...new Set(all.map(({ maker }) => maker))].map((maker): List => [
      `collection=${id}&maker=${maker}`,
      open.filter((bid) => bid.maker === maker),
      newestFirst,
    ]),
    ...EVM_TOKENS.map((token): List => [
      `token=${chain}/${contractAddress}/${token}&sort=price`,
      open.filter((bid) => accepts(bid, token)),
      bestFirst,
    ]),
  ];
}

function describe(bid: Bid): string {
  const { orderId, asset, priceRaw, proceedsRaw, quantity, maker } = bid;
  const criteria = kindOf(bid) === 'trait' ? `set of ${bid.tokens?.length}` : kindOf(bid);
  return [orderId, criteria, asset, priceRaw, proceedsRaw, quantity, quantity, maker, maker, null].join(' ');
}

function describeServed(row: Json): string {
  const { orderId, kind, criteria, tokenId, quantity, remaining, maker, buyer, seller } = row;
  const wanted = kind === 'trait' ? `set of ${String((criteria as Json)['count'])}` : kind;
  const [price, proceeds] = [rawOf(row['price']), rawOf(row['proceeds'])];
  return [orderId, wanted, tokenId, price, proceeds, quantity, remaining, maker, buyer, seller].join(' ');
}
