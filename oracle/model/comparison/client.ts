// What the typed client reads must be the responses. It reads lists to their end, in pages of its own, and keeps its cache of responses from step to step.

import { Unavailable } from '../errors.ts';
import type { Check } from './check.ts';
import { dataOf } from './check.ts';
import type { Context } from './context.ts';
import { toFloor } from './marketplace.ts';

export function clientChecks({ doors, reader, limit }: Context): Check[] {
  const { client } = doors;
  const rows = (path: string) => doors.rows(path, 100);
  const data = async (path: string) => dataOf((await doors.get(path)).body);
  const check = (
    path: string,
    of: string | null,
    [expected, read]: readonly [() => Promise<unknown>, () => Promise<unknown>],
  ): Check => ({
    path: `${path} by the typed client`,
    of,
    compare: async () => [await expected(), await available(read)],
  });
  return [
    ...[...reader.market.tables.collection.keys()].flatMap((id) => {
      const [base, explored] = [`/v1/collections/${id}`, `/explore/v1/collections/${id}`];
      const page = { id, limit };
      return [
        check(base, id, [() => data(base), () => client.getCollection({ id }).then(dataOf)]),
        check(`${base}/floor`, id, [
          async () => toFloor(await data(`${base}/floor`)),
          async () => toFloor(dataOf(await client.getFloor({ id }))),
        ]),
        check(`${base}/listings`, id, [
          () => rows(`${base}/listings`),
          () => Array.fromAsync(client.listListings(page)),
        ]),
        check(`${base}/sales`, id, [() => rows(`${base}/sales`), () => Array.fromAsync(client.listSales(page))]),
        check(explored, id, [() => data(explored), () => client.getMarketCollection({ id }).then(dataOf)]),
        check(`${explored}/tokens`, id, [
          () => rows(`${explored}/tokens`),
          () => Array.fromAsync(client.listTokens(page)),
        ]),
        check(`${explored}/traits`, id, [
          () => rows(`${explored}/traits`),
          () => Array.fromAsync(client.listTraits(page)),
        ]),
      ];
    }),
    check('/v1/collections?sort=recent', null, [
      () => rows('/v1/collections?sort=recent'),
      () => Array.fromAsync(client.listCollections({ limit, sort: 'recent' })),
    ]),
  ];
}

/** What the typed client reads, with amounts as text like in the responses. */
async function available(read: () => Promise<unknown>): Promise<unknown> {
  const value = await read().catch((error: unknown) => {
    throw new Unavailable(`the typed client: ${String(error)}`);
  });
  return JSON.parse(
    JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? part.toString() : part)),
  );
}
