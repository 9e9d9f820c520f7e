// Compares the lists of `/explore/v1` that clients filter and sort: rankings of collections, tokens, and the collections of a wallet; and what the
// responses say about each other: provenance, history and tools for agents. "explore" is docs/explore.md.

import type { StreamCopy } from '../doors/copy.ts';
import type { Explorer, Json } from './explore.ts';
import { assetOf, dataOf, isEvm, knownAssets, rawOf } from './explore.ts';
import type { Ranking } from '../rules/figures.ts';
import { listingFigures, openListings, rankingKeys, toMarketplace, tokensOf, walletListings } from '../rules/figures.ts';
import type { Collection, Listing, Token } from '../rules/market.ts';
import { CHAINS } from '../rules/records.ts';
import { ANY } from '../rules/shop.ts';
import { EVM_TOKENS, EVM_WALLETS, MINTS, SOLANA_WALLETS } from '../steps.ts';
import * as views from '../rules/views.ts';

const EXPLORE = '/explore/v1';
/** Explore, "Rankings": "the order by a window is brought up to date each ten minutes". */
const RANKS_KEPT_MS = 10 * 60_000;

/** Compares the lists of one collection. */
export async function compareListsOf(explorer: Explorer, collection: Collection, copy: StreamCopy): Promise<void> {
  await compareHistoryFloors(explorer, collection);
  await compareProvenance(explorer, collection);
  await compareTokenFilters(explorer, collection);
  compareFloorEvents(explorer, collection, copy);
}

/** Compares the lists of all collections. */
export async function compareListsOfAll(explorer: Explorer): Promise<void> {
  await compareRankings(explorer);
  await compareWalletCollections(explorer);
  await compareTools(explorer);
}

async function compareRankings(explorer: Explorer): Promise<void> {
  const check = async (ranking: Ranking) => explorer.isChosen() && compareRanking(explorer, ranking);
  const sorts = ['volume', 'sales', 'floor', 'listed'] as const;
  const windows = ['1h', '24h', '7d', '30d', 'all'] as const;
  for (const sort of sorts) {
    for (const window of sort === 'volume' || sort === 'sales' ? windows : (['all'] as const)) {
      await check({ sort, window, chain: null, order: 'desc' });
      await check({ sort, window, chain: 'ethereum', order: 'asc' });
    }
    await check({ sort, window: 'all', chain: null, order: 'asc' });
  }
  for (const limits of [{ floorMin: '1' }, { floorMax: '1.2', volumeMin: '1' }, { volumeMax: '2.5' }])
    for (const chain of ['ethereum', null] as const)
      await check({ sort: 'volume', window: 'all', chain, order: 'desc', ...limits });
  await compareNamed(explorer);
}

/** Explore, "Rankings". Collections that are equal by the sort may have any order. */
async function compareRanking({ doors, reader, limit, expect }: Explorer, ranking: Ranking): Promise<void> {
  const { sort, window, chain, order, ...limits } = ranking;
  const query = new URLSearchParams({
    sort,
    order,
    ...(window !== 'all' && { window }),
    ...(chain && { chain }),
    ...limits,
  });
  const path = `${EXPLORE}/collections?${query.toString()}`;
  const followed = doors.otherIds;
  const rows = (await doors.rows(path, limit)) as Json[] | null;
  const ids = rows?.map(({ id }) => String(id)).filter((id) => !followed.has(id)) ?? [];
  const keys = rankingKeys(reader, ranking);
  // A value that time alone has changed may have its earlier place.
  const earlier = rankingKeys({ ...reader, now: reader.now - RANKS_KEPT_MS }, ranking);
  const isStable = (id: string) => keys.get(id)?.text === earlier.get(id)?.text;
  const expected = [...keys.values()].filter(({ id }) => isStable(id));
  expect(path, expected.map(({ id }) => id).toSorted(), ids.filter(isStable).toSorted());
  expect(
    `${path} (order)`,
    expected.map(({ text }) => text),
    ids.filter(isStable).map((id) => keys.get(id)?.text),
  );
}

/** Explore: "`ids` reads up to 100 collections in one request, in the order of the names". */
async function compareNamed({ doors, reader, expect }: Explorer): Promise<void> {
  const names = [...reader.market.tables.collection.values()].map(({ id, slug }) => slug ?? id).toReversed();
  if (names.length === 0) return;
  const path = `${EXPLORE}/collections?ids=${names.join(',')}`;
  const { body } = await doors.get(path);
  const single = await Promise.all(
    names.map(async (name) => dataOf((await doors.get(`${EXPLORE}/collections/${name}`)).body)),
  );
  expect(path, single, dataOf(body));
}

/** Explore, "Tokens": the table of parameters. */
async function compareTokenFilters(explorer: Explorer, collection: Collection): Promise<void> {
  const { doors, reader, limit, expect } = explorer;
  const { id, chain } = collection;
  const recorded = tokensOf(reader, id);
  const shownOf = (asset: string) => views.ownedToken(reader, collection, asset);
  const open = openListings(reader, id);
  const listingOf = (asset: string): Listing | undefined => {
    const shown = shownOf(asset).listing;
    return shown ? open.find((row) => row.orderId === shown.orderId) : undefined;
  };
  const read = async (query: string) => {
    const path = `${EXPLORE}/collections/${id}/tokens?${query}`;
    const rows = ((await doors.rows(path, limit)) as Json[] | null) ?? [];
    return { path, rows, assets: rows.map(assetOf) };
  };
  const check = async (query: string, expected: readonly string[], valueOf?: (row: Json) => number | bigint | null) => {
    if (!explorer.isChosen()) return;
    const { path, rows, assets } = await read(query);
    expect(path, [...expected].toSorted(), assets.toSorted());
    const values = valueOf ? rows.map(valueOf) : [];
    // Ascending, and unknown values come last.
    const isSorted = values.every((value, index) => {
      const before = values[index - 1] ?? null;
      return index === 0 || value === null || (before !== null && before <= value);
    });
    expect(`${path} (order)`, true, isSorted);
  };
  const assets = recorded.map(({ asset }) => asset);
  const isPriced = (asset: string, min: bigint, max: bigint) => {
    const row = listingOf(asset);
    return row !== undefined && row.priceRaw >= min && row.priceRaw <= max;
  };
  const one = 10n ** BigInt(CHAINS[chain]?.decimals ?? 0);
  await check(
    'sort=id&priceMin=1&priceMax=1.5',
    assets.filter((asset) => isPriced(asset, one, (one * 3n) / 2n)),
  );
  await check(
    'sort=price&priceMax=1.5',
    knownAssets(reader, collection).filter((asset) => isPriced(asset, 0n, (one * 3n) / 2n)),
    (row) => BigInt(rawOf((row['listing'] as Json)['price']) ?? 0),
  );
  for (const source of new Set(open.map((row) => toMarketplace(row.source))))
    await check(
      `sort=id&source=${source}`,
      assets.filter((asset) => toMarketplace(listingOf(asset)?.source ?? null) === source && listingOf(asset)),
    );
  const hasRanks = recorded.some(({ rarityRank }) => rarityRank !== null);
  const rankOf = (row: Json) => (row['rarity'] as { rank: number | null }).rank;
  if (hasRanks || !collection.tokensComplete) {
    const ranked = (token: Token) => token.rarityRank !== null && token.rarityRank >= 2 && token.rarityRank <= 7;
    await check(
      'sort=rank&rankMin=2&rankMax=7',
      recorded.filter(ranked).map(({ asset }) => asset),
      rankOf,
    );
  }
  await check('sort=rank', assets, rankOf);
  for (const q of ['1', 'caf', 'one', MINTS[0]]) {
    const isFound = ({ asset, name }: Token) =>
      toLower(name ?? '').startsWith(toLower(q)) || (isEvm(collection) ? asset.startsWith(q) : asset === q);
    await check(
      `sort=id&q=${q}`,
      recorded.filter(isFound).map(({ asset }) => asset),
    );
  }
  for (const owner of isEvm(collection) ? EVM_WALLETS.slice(0, 2) : SOLANA_WALLETS.slice(0, 2))
    await check(
      `sort=id&owner=${owner}`,
      assets.filter((asset) => shownOf(asset).owner.address === owner),
    );
  await check(
    'sort=id&listed=false',
    assets.filter((asset) => shownOf(asset).listing === null),
  );
  await check('sort=lastSale', assets, (row) => minusTime((row['lastSale'] as Json | null)?.['at']));
  await check('sort=recent', knownAssets(reader, collection), (row) =>
    minusTime((row['listing'] as Json | null)?.['timestamp']),
  );
  await compareSingle(explorer, collection);
}

/** Explore: "one token as the lists have it". */
async function compareSingle({ doors, expect }: Explorer, collection: Collection): Promise<void> {
  const { chain, contractAddress: address } = collection;
  const assets = isEvm(collection) ? EVM_TOKENS : MINTS;
  const tokens = assets.map((tokenId) => ({ chain, address, tokenId }));
  const batch = dataOf((await doors.post(`${EXPLORE}/tokens/batch`, { tokens })).body) as unknown as (Json | null)[];
  for (const [index, asset] of assets.entries()) {
    const path = `${EXPLORE}/tokens/${chain}/${address}/${asset}`;
    const { status, body } = await doors.get(path);
    expect(path, batch[index] ?? 404, status === 200 ? dataOf(body) : status);
  }
}

/** Explore, "Wallets": `/wallets/{address}/collections`. */
async function compareWalletCollections({ doors, reader, limit, expect, isChosen }: Explorer): Promise<void> {
  const all = [...reader.market.tables.collection.values()];
  for (const [isEvmWallet, wallets] of [
    [true, EVM_WALLETS.slice(0, 3).map((wallet) => wallet.toLowerCase())],
    [false, SOLANA_WALLETS.slice(0, 3)],
  ] as const) {
    const collections = all.filter((one) => isEvm(one) === isEvmWallet);
    for (const wallet of wallets) {
      if (!isChosen()) continue;
      const expected = collections.flatMap((one) => {
        const tokens = tokensOf(reader, one.id).filter(({ owner }) => owner === wallet).length;
        const listed = new Set(walletListings(reader, one.id, wallet).map(({ asset }) => asset)).size;
        if (tokens === 0 && listed === 0) return [];
        const { floorRaw } = listingFigures(reader, one);
        const isKnown = tokens > 0 || one.tokensComplete;
        return [
          {
            id: one.id,
            // A collection of which all holders are known has none of the wallet's tokens.
            tokens: tokens > 0 ? tokens : isKnown ? ANY : null,
            listed,
            floor: floorRaw?.toString() ?? null,
            value:
              tokens === 0 ? (isKnown ? ANY : null) : floorRaw === null ? null : (floorRaw * BigInt(tokens)).toString(),
            isComplete: one.tokensComplete ? ANY : false,
          },
        ];
      });
      const path = `${EXPLORE}/wallets/${wallet}/collections`;
      const rows = (await doors.rows(path, limit)) as Json[] | null;
      const followed = doors.otherIds;
      const served = rows
        ?.filter(({ id }) => !followed.has(String(id)))
        .map(({ id, tokens, listed, floor, value, provenance }) => ({
          id,
          tokens,
          listed,
          floor: rawOf(floor),
          value: rawOf(value),
          isComplete: (provenance as Json)['tokens'] !== null,
        }));
      const byId = (list: readonly { id: unknown }[]) =>
        list.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
      expect(path, byId(expected), served ? byId(served) : null);
      await compareTotals({ doors, expect }, { path, rows: rows ?? [] });
    }
  }
}

/** Explore, "Wallets": "there is one sum for each currency, over all collections of the wallet". */
async function compareTotals(
  { doors, expect }: Pick<Explorer, 'doors' | 'expect'>,
  { path, rows }: { path: string; rows: readonly Json[] },
): Promise<void> {
  const { body } = await doors.get(path);
  const totals = (body as { totals?: unknown; meta?: Json }).totals ?? (body as { meta: Json }).meta['totals'];
  const held = rows.filter(({ tokens }) => typeof tokens === 'number' && tokens > 0);
  const symbolOf = ({ chain }: Json) => CHAINS[String(chain)]?.symbol ?? '';
  const expected = [...Map.groupBy(held, symbolOf)].map(([currency, of]) => {
    const values = of.flatMap(({ value }) => (value === null ? [] : [BigInt(rawOf(value) ?? 0)]));
    const sum = values.reduce((total, value) => total + value, 0n);
    return {
      currency,
      value: values.length === 0 ? null : sum.toString(),
      collections: of.length,
      unvalued: of.length - values.length,
    };
  });
  const served: Json[] | null =
    (totals as Json[] | null)?.map((total) => ({ ...total, value: rawOf(total['value']) })) ?? null;
  const sorted = (all: readonly { currency?: unknown }[]) =>
    all.toSorted((a, b) => (String(a.currency) < String(b.currency) ? -1 : 1));
  expect(`${path} (totals)`, sorted(expected), served ? sorted(served) : null);
}

/** Provenance: a figure of the kind `unknown` is null, and only such a figure; of a floor it may be known that there is none. */
async function compareProvenance({ doors, expect }: Explorer, { id }: Collection): Promise<void> {
  const { stats } = dataOf((await doors.get(`${EXPLORE}/collections/${id}`)).body) as { stats: Json };
  const { figures } = dataOf((await doors.get(`${EXPLORE}/collections/${id}/provenance`)).body) as {
    figures: { figure: string; kind: string }[];
  };
  const valueAt = (figure: string) => figure.split('.').reduce<unknown>((part, name) => (part as Json)[name], stats);
  for (const { figure, kind } of figures) {
    if (figure === 'rarity.rank') continue;
    const isNull = valueAt(figure) === null;
    const isUnknown = kind === 'unknown';
    expect(`${figure} of ${id} and its provenance`, isUnknown, figure === 'floor' ? isNull && isUnknown : isNull);
  }
}

type Point = { floor: Record<'open' | 'high' | 'low' | 'close', { raw: string } | null>; listed: number | null };

/** Explore, "History": "floors and listed counts are those that /v1 served". */
async function compareHistoryFloors({ doors, reader, expect }: Explorer, collection: Collection): Promise<void> {
  const path = `${EXPLORE}/collections/${collection.id}/history?interval=hour`;
  const { data } = (await doors.get(path)).body as { data: Point[] };
  const rawAt = ({ floor }: Point, name: keyof Point['floor']) =>
    floor[name] === null ? null : BigInt(floor[name].raw);
  for (const [index, point] of data.entries()) {
    const [open, high, low, close] = (['open', 'high', 'low', 'close'] as const).map((name) => rawAt(point, name));
    const before = data[index - 1];
    if (before) expect(`${path}: open at ${index} and close before it`, String(rawAt(before, 'close')), String(open));
    const known = [open, close].filter((raw): raw is bigint => typeof raw === 'bigint');
    const isWithin = known.every(
      (raw) => typeof high === 'bigint' && typeof low === 'bigint' && low <= raw && raw <= high,
    );
    expect(`${path}: whether the range at ${index} has its ends`, true, isWithin);
  }
  const last = data.at(-1);
  const { floorRaw, listedCount } = listingFigures(reader, collection);
  expect(
    `${path} (now)`,
    { floor: floorRaw?.toString() ?? null, listed: listedCount },
    last && { floor: rawAt(last, 'close')?.toString() ?? null, listed: last.listed },
  );
}

/** Explore, "Activity": the last change of the kind `floor` says the floor. */
function compareFloorEvents({ reader, expect }: Explorer, collection: Collection, copy: StreamCopy): void {
  const { floorRaw } = listingFigures(reader, collection);
  expect(`the last floor of ${collection.id} in the stream`, floorRaw?.toString() ?? null, copy.floorOf(collection.id));
}

/** Agents: "A result is the response of the path that the tool reads", without pictures that are data, and with units. */
async function compareTools({ doors, reader, expect, isChosen }: Explorer): Promise<void> {
  const tools: [string, Json, string][] = [...reader.market.tables.collection.values()].flatMap((one) => {
    const { id, chain, contractAddress } = one;
    const asset = isEvm(one) ? EVM_TOKENS[0] : MINTS[0];
    const wallet = (isEvm(one) ? EVM_WALLETS : SOLANA_WALLETS)[0];
    return [
      ['list_listings', { collection: id }, `/v1/collections/${id}/listings?limit=8`],
      ['list_sales', { collection: id, limit: 3 }, `/v1/collections/${id}/sales?limit=3`],
      ['list_tokens', { collection: id, sort: 'id' }, `${EXPLORE}/collections/${id}/tokens?sort=id&limit=8`],
      ['list_traits', { collection: id }, `${EXPLORE}/collections/${id}/traits?limit=8`],
      ['list_orders', { collection: id, sort: 'price' }, `${EXPLORE}/orders?collection=${id}&sort=price&limit=8`],
      ['list_activity', { collection: id, kinds: 'sale' }, `${EXPLORE}/activity?collection=${id}&kinds=sale&limit=8`],
      ['get_holders', { collection: id }, `${EXPLORE}/collections/${id}/holders`],
      ['list_wallet', { address: wallet, chain }, `${EXPLORE}/wallets/${wallet}/tokens?chain=${chain}&limit=8`],
      [
        'get_token',
        { chain, address: contractAddress, tokenId: asset },
        `${EXPLORE}/tokens/${chain}/${contractAddress}/${asset}`,
      ],
    ];
  });
  for (const [name, given, path] of [
    ...tools,
    ['list_collections', { sort: 'recent', window: '7d' }, `${EXPLORE}/collections?sort=recent&limit=8`] as const,
  ]) {
    if (!isChosen()) continue;
    const { status, body } = await doors.get(path);
    if (status !== 200) continue;
    const result = (await doors.tool(name, given)) as Json;
    const rows = name === 'list_collections' ? (dataOf(body) as unknown as Json[]).map(toShortRow) : dataOf(body);
    expect(`the tool ${name} ${JSON.stringify(given)}`, withoutUnits(rows), withoutUnits(result['data']));
  }
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

function minusTime(time: unknown): number | null {
  return typeof time === 'string' ? -Date.parse(time) : null;
}

function toLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
