// What `/explore/v1` must serve about the tokens of one collection, in each of its lists. "explore" is docs/explore.md.

import { openListings, toMarketplace, tokensOf } from '../rules/figures.ts';
import type { Collection, Listing, Token } from '../rules/market.ts';
import { CHAINS, isEvm } from '../rules/records.ts';
import * as views from '../rules/views.ts';
import { EVM_TOKENS, EVM_WALLETS, MINTS, SOLANA_WALLETS } from '../steps.ts';
import type { Check, Json } from './check.ts';
import { assetOf, dataOf, proceedsOf, rawOf } from './check.ts';
import type { Context } from './context.ts';
import { byText, EXPLORE, rowsOf } from './context.ts';
import { knownAssets } from './explore.ts';

type SortKey = (row: Json) => number | bigint | null;
/** A list: its parameters, the assets that it must have, and by what it is sorted. */
type List = [query: string, assets: readonly string[], sortBy?: SortKey];

export function tokenChecks(context: Context, collection: Collection): Check[] {
  const { reader } = context;
  const { id } = collection;
  const base = `${EXPLORE}/collections/${id}/tokens`;
  const shownOf = (asset: string) => views.ownedToken(reader, collection, asset);
  const check = ([query, assets, sortBy]: List): Check => ({
    path: `${base}?${query}`,
    of: id,
    compare: async () => {
      const rows = (await rowsOf(context, `${base}?${query}`)) ?? [];
      return [
        { rows: byText(assets.map(shownOf), assetOfToken), isSorted: true },
        { rows: byText(rows.map(toToken), assetOfToken), isSorted: sortBy ? isSorted(rows.map(sortBy)) : true },
      ];
    },
  });
  return [
    ...listsOf(context, collection).map(check),
    traitCheck(context, collection),
    ...singleChecks(context, collection),
  ];
}

const assetOfToken = ({ asset }: { asset: string }) => asset;

/** Explore, "Tokens": the table of parameters. Lists have the tokens of which there is a record; `sort=price` and `sort=recent` also have listed tokens without one. */
function listsOf({ reader }: Context, collection: Collection): List[] {
  const { id, chain } = collection;
  const recorded = tokensOf(reader, id);
  const assets = recorded.map(assetOfToken);
  const known = knownAssets(reader, collection);
  const open = openListings(reader, id);
  const shownOf = (asset: string) => views.ownedToken(reader, collection, asset);
  const listingOf = (asset: string): Listing | undefined => {
    const shown = shownOf(asset).listing;
    return shown ? open.find((row) => row.orderId === shown.orderId) : undefined;
  };
  const isListed = (asset: string) => listingOf(asset) !== undefined;
  const isPriced = (asset: string, min: bigint, max: bigint) => {
    const row = listingOf(asset);
    return row !== undefined && row.priceRaw >= min && row.priceRaw <= max;
  };
  const whole = 10n ** BigInt(CHAINS[chain]?.decimals ?? 0);
  const isRanked = ({ rarityRank }: Token) => rarityRank !== null && rarityRank >= 2 && rarityRank <= 7;
  const hasRanks = recorded.some(({ rarityRank }) => rarityRank !== null);
  const isFound = ({ asset, name }: Token, q: string) =>
    toLower(name ?? '').startsWith(toLower(q)) || (isEvm(collection) ? asset.startsWith(q) : asset === q);
  const owners = (isEvm(collection) ? EVM_WALLETS : SOLANA_WALLETS).slice(0, 2);
  return [
    ['sort=id', assets],
    ['sort=id&listed=true', assets.filter(isListed)],
    ['sort=id&listed=false', assets.filter((asset) => !isListed(asset))],
    ['sort=price', known, priceOf],
    ['sort=recent', known, (row) => minusTime((row['listing'] as Json | null)?.['timestamp'])],
    ['sort=lastSale', assets, (row) => minusTime((row['lastSale'] as Json | null)?.['at'])],
    ['sort=rank', assets, rankOf],
    ['sort=id&priceMin=1&priceMax=1.5', assets.filter((asset) => isPriced(asset, whole, (whole * 3n) / 2n))],
    ['sort=price&priceMax=1.5', known.filter((asset) => isPriced(asset, 0n, (whole * 3n) / 2n)), priceOf],
    ...[...new Set(open.map((row) => toMarketplace(row.source)))].map((source): List => [
      `sort=id&source=${source}`,
      assets.filter((asset) => toMarketplace(listingOf(asset)?.source ?? null) === source && isListed(asset)),
    ]),
    ...(hasRanks || !collection.tokensComplete
      ? ([['sort=rank&rankMin=2&rankMax=7', recorded.filter(isRanked).map(assetOfToken), rankOf]] satisfies List[])
      : []),
    ...['1', 'caf', 'one', MINTS[0]].map((q): List => [
      `sort=id&q=${q}`,
      recorded.filter((token) => isFound(token, q)).map(assetOfToken),
    ]),
    ...owners.map((owner): List => [
      `sort=id&owner=${owner}`,
      assets.filter((asset) => shownOf(asset).owner.address === (isEvm(collection) ? owner.toLowerCase() : owner)),
    ]),
  ];
}

/** Explore: `traits[Hat]=Cap`, and "a trait that a collection does not have" is a 400. The last token with a trait may have been burned: then the list is empty. */
function traitCheck(context: Context, collection: Collection): Check {
  const { doors, reader } = context;
  const { id } = collection;
  const hats = tokensOf(reader, id)
    .filter(({ traits }) => traits?.some(({ name, value }) => name === 'Hat' && value === 'Cap'))
    .map(assetOfToken);
  const path = `${EXPLORE}/collections/${id}/tokens?traits[Hat]=Cap`;
  return {
    path,
    of: id,
    compare: async () => {
      if (hats.length === 0) {
        const { status, body } = await doors.get(path);
        return [true, status === 400 || (dataOf(body) as unknown as Json[]).length === 0];
      }
      const assetsAt = async (query: string) => (await rowsOf(context, path + query))?.map(assetOf).toSorted() ?? null;
      const listed = hats.filter((asset) => views.ownedToken(reader, collection, asset).listing !== null);
      return [
        [hats.toSorted(), listed.toSorted()],
        [await assetsAt('&sort=id'), await assetsAt('&sort=price&listed=true')],
      ];
    },
  };
}

/** Explore: `POST /tokens/batch`, and "one token as the lists have it". */
function singleChecks({ doors, reader }: Context, collection: Collection): Check[] {
  const { id, chain, contractAddress: address } = collection;
  const known = knownAssets(reader, collection);
  const assets = isEvm(collection) ? EVM_TOKENS : MINTS;
  const path = `${EXPLORE}/tokens/batch`;
  const batchOf = async (names: readonly string[]) => {
    const tokens = names.map((tokenId) => ({ chain, address, tokenId }));
    return dataOf((await doors.post(path, { tokens })).body) as unknown as (Json | null)[];
  };
  const inBatch = (asset: string) =>
    known.includes(asset) || views.token(reader, collection, asset) !== null
      ? views.ownedToken(reader, collection, asset)
      : null;
  return [
    {
      path: `${path} of ${id}`,
      of: id,
      compare: async () => [assets.map(inBatch), (await batchOf(assets)).map((row) => row && toToken(row))],
    },
    ...assets.map((asset): Check => {
      const single = `${EXPLORE}/tokens/${chain}/${address}/${asset}`;
      return {
        path: single,
        of: id,
        compare: async () => {
          const { status, body } = await doors.get(single);
          const [row] = await batchOf([asset]);
          return [row ?? 404, status === 200 ? dataOf(body) : status];
        },
      };
    }),
  ];
}

function toToken(row: Json) {
  const listing = row['listing'] as Json | null;
  const traits = (row['traits'] as { name: string; value: string }[]).map(({ name, value }) => `${name}: ${value}`);
  return {
    asset: assetOf(row),
    name: row['name'],
    image: withoutHost(row['image'] as string | null),
    owner: row['owner'] as { address: string | null },
    listing: listing && { raw: rawOf(listing['price']), orderId: listing['orderId'] },
    traits: traits.toSorted(),
    topBid: proceedsOf(row['topBid']),
  };
}

/** The URL of an image at the service, which begins with the public address of the service, without this address. */
function withoutHost(image: string | null): string | null {
  return image && image.replace(/^http:\/\/[^/]+(?=\/explore\/v1\/)/, '');
}

/** Ascending, and unknown values come last. */
function isSorted(values: readonly (number | bigint | null)[]): boolean {
  return values.every((value, index) => {
    const before = values[index - 1] ?? null;
    return index === 0 || value === null || (before !== null && before <= value);
  });
}

function priceOf({ listing }: Json): bigint | null {
  return listing === null ? null : BigInt(rawOf((listing as Json)['price']) ?? 0);
}

function rankOf(row: Json): number | null {
  return (row['rarity'] as { rank: number | null }).rank;
}

function minusTime(time: unknown): number | null {
  return typeof time === 'string' ? -Date.parse(time) : null;
}

function toLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
