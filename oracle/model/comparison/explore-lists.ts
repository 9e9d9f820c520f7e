// What `/explore/v1` and the tools for agents must serve about all collections together: rankings, search, the stream, and the collections of a wallet. "explore" is
// docs/explore.md.

import type { Ranking } from '../rules/figures.ts';
import { listingFigures, rankingKeys, tokensOf, walletListings } from '../rules/figures.ts';
import type { Collection } from '../rules/market.ts';
import { CHAINS, isEvm } from '../rules/records.ts';
import { ANY } from '../rules/shop.ts';
import { EVM_TOKENS, EVM_WALLETS, MINTS, SOLANA_WALLETS } from '../steps.ts';
import type { Check, Json } from './check.ts';
import { assetOf, dataOf, rawOf } from './check.ts';
import type { Context } from './context.ts';
import { byText, EXPLORE, rowsOf, withoutOthers } from './context.ts';
import { figuresOf, toFigures } from './explore.ts';

/** Explore, "Rankings": "the order by a window is brought up to date each ten minutes". */
const RANKS_KEPT_MS = 10 * 60_000;
const FILTERS = ['list,reprice', 'sale', 'floor,cancel,expire,fill'] as const;

export function listChecks(context: Context): Check[] {
  const stored = [...context.reader.market.tables.collection.values()];
  const unread = `${EXPLORE}/activity?kind=sale`;
  return [
    figuresCheck(context),
    ...rankings().map((ranking) => rankingCheck(context, ranking)),
    ...(['1h', '24h', '7d', '30d'] as const).map((window) => changeCheck(context, window)),
    ...(stored.length > 0 ? [namedCheck(context, stored)] : []),
    ...collectionSearches(context, stored),
    ...tokenSearches(context),
    ...stored.flatMap(({ id }) => FILTERS.map((kinds) => streamCheck(context, id, kinds))),
    ...walletChecks(context, stored),
    ...stored.flatMap((one) => [figuresTool(context, one), ...toolChecks(context, one)]),
    toolCheck(context, null, [
      'list_collections',
      { sort: 'recent', window: '7d' },
      `${EXPLORE}/collections?sort=recent&limit=8`,
    ]),
    {
      // Explore, "Additions": "unknown query parameters are a 400 that names them".
      path: `${unread} with an unknown parameter`,
      of: null,
      compare: async () => [400, (await context.doors.get(unread)).status],
    },
  ];
}

function figuresCheck(context: Context): Check {
  const { doors, reader } = context;
  const path = `${EXPLORE}/collections?sort=volume`;
  return {
    path,
    of: null,
    compare: async () => {
      const rows = withoutOthers(doors, await rowsOf(context, path));
      const all = [...reader.market.tables.collection.values()].map((one) => figuresOf(reader, one));
      return [byText(all, ({ id }) => id), rows && byText(rows.map(toFigures), ({ id }) => id)];
    },
  };
}

function rankings(): Ranking[] {
  const sorts = ['volume', 'sales', 'floor', 'listed'] as const;
  const windows = ['1h', '24h', '7d', '30d', 'all'] as const;
  return [
    ...sorts.flatMap((sort): Ranking[] => [
      ...(sort === 'volume' || sort === 'sales' ? windows : (['all'] as const)).flatMap((window): Ranking[] => [
        { sort, window, chain: null, order: 'desc' },
        { sort, window, chain: 'ethereum', order: 'asc' },
      ]),
      { sort, window: 'all', chain: null, order: 'asc' },
    ]),
    ...[{ floorMin: '1' }, { floorMax: '1.2', volumeMin: '1' }, { volumeMax: '2.5' }].flatMap((limits): Ranking[] =>
      (['ethereum', null] as const).map((chain) => ({
        sort: 'volume',
        window: 'all',
        chain,
        order: 'desc',
        ...limits,
      })),
    ),
  ];
}

/** Explore, "Rankings". Collections that are equal by the sort may have any order. */
function rankingCheck(context: Context, ranking: Ranking): Check {
  const { doors, reader } = context;
  const { sort, window, chain, order, ...limits } = ranking;
  const query = new URLSearchParams({
    sort,
    order,
    ...(window !== 'all' && { window }),
    ...(chain && { chain }),
    ...limits,
  });
  const path = `${EXPLORE}/collections?${query.toString()}`;
  return {
    path,
    of: null,
    compare: async () => {
      const ids = withoutOthers(doors, await rowsOf(context, path))?.map(({ id }) => String(id)) ?? [];
      const keys = rankingKeys(reader, ranking);
      // A value that time alone has changed may have its earlier place.
      const earlier = rankingKeys({ ...reader, now: reader.now - RANKS_KEPT_MS }, ranking);
      const isStable = (id: string) => keys.get(id)?.text === earlier.get(id)?.text;
      const expected = [...keys.values()].filter(({ id }) => isStable(id));
      const served = ids.filter(isStable);
      return [
        { ids: expected.map(({ id }) => id).toSorted(), order: expected.map(({ text }) => text) },
        { ids: served.toSorted(), order: served.map((id) => keys.get(id)?.text) },
      ];
    },
  };
}

const CHANGES = { '1h': 'oneHour', '24h': 'twentyFourHour', '7d': 'sevenDay', '30d': 'thirtyDay' } as const;

/** Explore, "Rankings": "`change` is the change of the floor", the highest first, and "unknown values come last". The figures are those of the rows themselves. */
function changeCheck(context: Context, window: keyof typeof CHANGES): Check {
  const path = `${EXPLORE}/collections?sort=change&window=${window}&launchedFirst=false`;
  return {
    path,
    of: null,
    compare: async () => {
      const rows = (await rowsOf(context, path)) ?? [];
      const changes = rows.map(
        ({ stats }) => (stats as { floorChange: Record<string, number | null> }).floorChange[CHANGES[window]],
      );
      const isSorted = changes.every((change, index) => {
        const before = changes[index - 1];
        return index === 0 || change === null || (typeof before === 'number' && before >= (change ?? 0));
      });
      const ids = withoutOthers(context.doors, rows)?.map(({ id }) => String(id));
      return [
        { isSorted: true, ids: [...context.reader.market.tables.collection.keys()].toSorted() },
        { isSorted: isSorted || changes, ids: ids?.toSorted() },
      ];
    },
  };
}

/** Explore: "`ids` reads up to 100 collections in one request, in the order of the names". */
function namedCheck({ doors }: Context, stored: readonly Collection[]): Check {
  const names = stored.map(({ id, slug }) => slug ?? id).toReversed();
  const path = `${EXPLORE}/collections?ids=${names.join(',')}`;
  return {
    path,
    of: null,
    compare: async () => {
      const { body } = await doors.get(path);
      const single = await Promise.all(
        names.map(async (name) => dataOf((await doors.get(`${EXPLORE}/collections/${name}`)).body)),
      );
      return [single, dataOf(body)];
    },
  };
}

/** Explore, "Search": every collection is found by its name and slug, and nothing that is not stored. */
function collectionSearches({ doors, reader }: Context, stored: readonly Collection[]): Check[] {
  return [...new Set(stored.flatMap(({ name, slug }) => [name, slug ?? name]))].map((query) => {
    const path = `${EXPLORE}/search?q=${encodeURIComponent(query)}&limit=50`;
    return {
      path,
      of: null,
      compare: async () => {
        const rows = dataOf((await doors.get(path)).body) as unknown as Json[];
        const found = rows.map(({ collection, token }) =>
          collection ? String((collection as Json)['id']) : String((token as Json)['collectionId']),
        );
        const named = stored.filter(({ name, slug }) => name === query || slug === query).map(({ id }) => id);
        const others = doors.otherIds;
        // A token can be stored without a record of its collection.
        const isStored = (id: string) =>
          others.has(id) || stored.some((one) => one.id === id) || tokensOf(reader, id).length > 0;
        return [
          { missing: [], unknown: [] },
          { missing: named.filter((id) => !found.includes(id)), unknown: found.filter((id) => !isStored(id)) },
        ];
      },
    };
  });
}

/** Explore, "Search": every token is found by its name. */
function tokenSearches({ doors, reader }: Context): Check[] {
  const named = [...reader.market.tables.token.values()].filter(({ name }) => name !== null);
  return Array.from(
    Map.groupBy(named, ({ name }) => name ?? ''),
    ([name, tokens]) => {
      const path = `${EXPLORE}/search?q=${encodeURIComponent(name)}&limit=50`;
      return {
        path: `${path} (tokens)`,
        of: null,
        compare: async () => {
          const rows = dataOf((await doors.get(path)).body) as unknown as { token: Json | null }[];
          const found = rows.flatMap(({ token }) =>
            token ? [`${String(token['collectionId'])} ${assetOf(token)}`] : [],
          );
          return [
            [],
            tokens.map(({ collectionId, asset }) => `${collectionId} ${asset}`).filter((one) => !found.includes(one)),
          ];
        },
      };
    },
  );
}

/** Explore, "The stream": the parameters `collections` and `kinds` leave out other events, also while other clients have other filters. */
function streamCheck({ doors, copy }: Context, collectionId: string, kinds: string): Check {
  const path = `${EXPLORE}/stream?from=0&collections=${collectionId}&kinds=${kinds}`;
  return {
    path,
    of: collectionId,
    compare: async () => {
      // Explore, kinds of activity, remove: "a stream has these events whatever its filter is".
      const wanted = copy.log.filter(
        (one) => one.kind === 'remove' || (one.collectionId === collectionId && kinds.split(',').includes(one.kind)),
      );
      const offsets = wanted.map(({ offset }) => offset);
      return [offsets, await doors.events(path, offsets.length)];
    },
  };
}

/** Explore, "Wallets": `/wallets/{address}/collections`. */
function walletChecks(context: Context, stored: readonly Collection[]): Check[] {
  const wallets = [
    ...EVM_WALLETS.slice(0, 3).map((wallet) => ({ address: wallet.toLowerCase(), isOnEvm: true })),
    ...SOLANA_WALLETS.slice(0, 3).map((address) => ({ address, isOnEvm: false })),
  ];
  return wallets.flatMap(({ address, isOnEvm }): Check[] => {
    const path = `${EXPLORE}/wallets/${address}/collections`;
    const collections = stored.filter((one) => isEvm(one) === isOnEvm);
    return [
      {
        path,
        of: null,
        compare: async () => {
          const rows = withoutOthers(context.doors, await rowsOf(context, path));
          const expected = collections.flatMap((one) => heldBy(context, one, address));
          return [byText(expected, ({ id }) => id), rows && byText(rows.map(toHeld), ({ id }) => id)];
        },
      },
      { path: `${path} (totals)`, of: null, compare: () => compareTotals(context, path) },
    ];
  });
}

function heldBy({ reader }: Context, one: Collection, wallet: string) {
  const tokens = tokensOf(reader, one.id).filter(({ owner }) => owner === wallet).length;
  const listed = new Set(walletListings(reader, one.id, wallet).map(({ asset }) => asset)).size;
  if (tokens === 0 && listed === 0) return [];
  const { floorRaw } = listingFigures(reader, one);
  // A collection of which all holders are known has none of the wallet's tokens.
  const otherwise = one.tokensComplete ? ANY : null;
  return [
    {
      id: one.id,
      tokens: tokens > 0 ? tokens : otherwise,
      listed,
      floor: floorRaw?.toString() ?? null,
      value: tokens === 0 ? otherwise : floorRaw === null ? null : (floorRaw * BigInt(tokens)).toString(),
      isComplete: one.tokensComplete ? ANY : false,
    },
  ];
}

function toHeld({ id, tokens, listed, floor, value, provenance }: Json) {
  const isComplete = (provenance as Json)['tokens'] !== null;
  return { id, tokens, listed, floor: rawOf(floor), value: rawOf(value), isComplete };
}

/** Explore, "Wallets": "there is one sum for each currency, over all collections of the wallet". */
async function compareTotals(context: Context, path: string): ReturnType<Check['compare']> {
  const rows = (await rowsOf(context, path)) ?? [];
  const { body } = await context.doors.get(path);
  const totals = (body as { totals?: unknown; meta?: Json }).totals ?? (body as { meta: Json }).meta['totals'];
  const held = rows.filter(({ tokens }) => typeof tokens === 'number' && tokens > 0);
  const symbolOf = ({ chain }: Json) => CHAINS[String(chain)]?.symbol ?? '';
  const expected = [...Map.groupBy(held, symbolOf)].map(([currency, of]) => {
    const values = of.flatMap(({ value }) => (value === null ? [] : [BigInt(rawOf(value) ?? 0)]));
    const sum = values.reduce((total, value) => total + value, 0n);
    const value = values.length === 0 ? null : sum.toString();
    return { currency, value, collections: of.length, unvalued: of.length - values.length };
  });
  const served = (totals as Json[] | null)?.map((total) => ({ ...total, value: rawOf(total['value']) })) ?? null;
  const currencyOf = (row: { currency?: unknown }) => row.currency;
  return [byText(expected, currencyOf), served && byText(served as { currency?: unknown }[], currencyOf)];
}

/** Provenance: a figure of the kind "unknown" is null, also in the tool `get_collection`. */
function figuresTool({ doors, reader }: Context, collection: Collection): Check {
  return {
    path: `the tool get_collection of ${collection.id}`,
    of: collection.id,
    compare: async () => {
      const { data } = (await doors.tool('get_collection', { collection: collection.id })) as { data: Json };
      const { floorRaw, buyerFloorRaw, listedCount } = listingFigures(reader, collection);
      const figures = data['figures'] as { figure: string; value: unknown; kind: string }[];
      const raws = [floorRaw, buyerFloorRaw].map((raw) => raw?.toString() ?? null);
      return [
        [...raws, listedCount, true],
        [
          rawOf(data['askFloor']),
          rawOf(data['buyerFloor']),
          figures.find(({ figure }) => figure === 'listedCount')?.value ?? null,
          figures.every(({ kind, value }) => kind !== 'unknown' || value === null),
        ],
      ];
    },
  };
}

type Tool = [name: string, given: Json, path: string];

function toolChecks(context: Context, one: Collection): Check[] {
  const { id, chain, contractAddress } = one;
  const asset = isEvm(one) ? EVM_TOKENS[0] : MINTS[0];
  const wallet = (isEvm(one) ? EVM_WALLETS : SOLANA_WALLETS)[0];
  const given = { chain, address: contractAddress, tokenId: asset };
  const tools: Tool[] = [
    ['list_listings', { collection: id }, `/v1/collections/${id}/listings?limit=8`],
    ['list_sales', { collection: id, limit: 3 }, `/v1/collections/${id}/sales?limit=3`],
    ['list_tokens', { collection: id, sort: 'id' }, `${EXPLORE}/collections/${id}/tokens?sort=id&limit=8`],
    ['list_traits', { collection: id }, `${EXPLORE}/collections/${id}/traits?limit=8`],
    ['list_orders', { collection: id, sort: 'price' }, `${EXPLORE}/orders?collection=${id}&sort=price&limit=8`],
    ['list_activity', { collection: id, kinds: 'sale' }, `${EXPLORE}/activity?collection=${id}&kinds=sale&limit=8`],
    ['get_holders', { collection: id }, `${EXPLORE}/collections/${id}/holders`],
    ['list_wallet', { address: wallet, chain }, `${EXPLORE}/wallets/${wallet}/tokens?chain=${chain}&limit=8`],
    ['get_token', given, `${EXPLORE}/tokens/${chain}/${contractAddress}/${asset}`],
  ];
  return tools.map((tool) => toolCheck(context, id, tool));
}

/** Agents: "A result is the response of the path that the tool reads", without pictures that are data, and with units. */
function toolCheck({ doors }: Context, of: string | null, [name, given, path]: Tool): Check {
  return {
    path: `the tool ${name} ${JSON.stringify(given)}`,
    of,
    compare: async () => {
      const { status, body } = await doors.get(path);
      if (status !== 200) return [null, null];
      const result = (await doors.tool(name, given)) as Json;
      const rows = name === 'list_collections' ? (dataOf(body) as unknown as Json[]).map(toShortRow) : dataOf(body);
      return [withoutUnits(rows), withoutUnits(result['data'])];
    },
  };
}

/** Agents: "`list_collections` and `get_history` have shorter rows than their paths." The window is 7 days. */
function toShortRow({ id, name, slug, chain, contractAddress, stats }: Json): Json {
  const { floor, listedCount, supply, owners, ...figures } = stats as Record<string, Json>;
  const ofWindow = (figure: string) => figures[figure]?.['sevenDay'] ?? null;
  const ofTime = { volume: ofWindow('volume'), volumeChange: ofWindow('volumeChange'), sales: ofWindow('sales') };
  const change = { floorChange: ofWindow('floorChange') };
  return { id, name, slug, chain, contractAddress, floor, ...change, ...ofTime, listed: listedCount, supply, owners };
}

function withoutUnits(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, part: unknown) =>
      name === 'rawUnit' || name === 'volumeCurrency' ? undefined : part,
    ),
  );
}
