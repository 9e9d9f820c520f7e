// Searches collections and tokens by name, slug, address or mint.

import { parseAddress } from '../../platform/core/address.ts';
import { isStorable } from '../../platform/core/text.ts';
import type { Chain } from '../../platform/core/chains.ts';
import type { CollectionSummary } from '../reads/collections.ts';
import { readSummaries } from '../reads/collections.ts';
import type { Market } from '../reads/market.ts';
import { requireValue } from '../reads/market-source.ts';
import type { Token } from '../reads/token.ts';
import { readTokens } from '../reads/token.ts';
import type { FoundCollection, FoundToken } from './queries/search.ts';
import { listCollectionsLike, listTokensLike } from './queries/search.ts';
import { toTokenLocation } from './token-location.ts';
import { readRanking } from '../reads/ranking.ts';
import { hasIdeographs, similarityOf, toParts, toSearchText, withoutAccents } from './trigrams.ts';

/** At most this many collections, and this many tokens, are read for a query and get a score. */
const CANDIDATES_MAX = 200;
/** If the query ends with a number, the number is searched as a token id in this many collections: those that best match the text before the number. */
const NUMBERED_MAX = 10;
/** Collections and tokens with a lower score are left out of the results. */
const SCORE_MIN = 0.4;
/** The lowest score of a name that begins with the query. The larger the part of the name that the query covers, the higher the score. */
const PREFIX_SCORE = 0.85;
/** The score of a name that differs from the query in accents only, and by how much the score of a name that begins so is lower. */
const UNACCENTED_SCORE = 0.97;
const UNACCENTED_LOSS = 0.03;
/** The lowest score of a name that contains a query in Chinese, Japanese or Korean script. */
const CONTAINED_SCORE = 0.6;
/** A query that is only a number is searched as a token id in this many collections: those with the largest volume. */
const BARE_IDS_MAX = 25;
/** The score of such a token in the largest collection, and by how much it is lower in each following one. */
const BARE_ID_SCORE = 0.6;
const BARE_ID_LOSS = 0.001;
/** The highest score of a name that is only similar to the query. It is below the score of any name that begins with the query. */
const SIMILAR_SCORE = 0.8;

/** `score` is from 0 to 1. An exact match has the score 1. */
export type SearchResult = { score: number } & ({ summary: CollectionSummary } | { token: Token });
export type SearchResults = { results: SearchResult[]; degraded: boolean };

/**
 * The best results first. If the query ends with a number, the number is also searched as a token id, in the collections that match the
 * text before the number. Throws `unavailable` when the collection records cannot be read, and `upstream_error` when the indexer cannot be
 * read.
 */
export async function search(
  market: Market,
  { text, chain, limit }: { text: string; chain: Chain | null; limit: number },
): Promise<SearchResults> {
  const wanted = text.trim().replaceAll(/\s+/g, ' ');
  if (wanted === '' || !isStorable(wanted)) return { results: [], degraded: false };
  const chains = chain ? [chain.id] : [...market.chains.keys()];
  const options = { chains, limit: CANDIDATES_MAX };
  const [, stem = '', tokenId = ''] = /^(.+?)[ #]+(\d{1,78})$/.exec(wanted) ?? [];
  const collections = rank(await findCollections(market, wanted, options), (found) => scoreOf(wanted, found));
  const ofStem = stem === '' ? [] : rank(await findCollections(market, stem, options), (found) => scoreOf(stem, found));
  const numbered = ofStem.slice(0, NUMBERED_MAX);
  const isBareId = /^\d{1,78}$/.test(wanted);
  const largest = isBareId
    ? await readRanking(market, { sort: 'volume', chain: chain?.id ?? null }, { after: null, limit: BARE_IDS_MAX })
    : [];
  const stemScores = new Map([
    ...numbered.map(({ found, score }) => [found.id, score] as const),
    ...largest.map(({ id }, place) => [id, BARE_ID_SCORE - place * BARE_ID_LOSS] as const),
  ]);
  const idOfToken = isBareId ? wanted : tokenId;
  // A name may be stored in the composed or in the decomposed form of Unicode.
  const forms = [...new Set([wanted.normalize('NFC'), wanted.normalize('NFD')])];
  const tokens = requireValue(
    await market.searches.read((db) =>
      Promise.all(
        forms.map((form, index) =>
          listTokensLike(db, {
            ...options,
            prefix: toSearchText(form),
            mint: index === 0 ? parseAddress('solana', wanted) : null,
            numbered:
              index > 0 || idOfToken === '' ? null : { tokenId: idOfToken, collectionIds: [...stemScores.keys()] },
          }),
        ),
      ),
    ),
    'upstream_error',
  ).flat();
  const foundTokens = rank(withoutRepeats(tokens), (token) =>
    Math.max(
      token.asset === wanted && !isBareId ? 1 : nameScore(wanted, token.name ?? ''),
      token.asset === idOfToken ? (stemScores.get(token.collectionId) ?? 0) : 0,
    ),
  );
  const best = [
    ...collections.map(({ found, score }) => ({ score, kind: 0, id: found.id, found })),
    ...foundTokens.map(({ found, score }) => ({ score, kind: 1, id: `${found.collectionId} ${found.asset}`, found })),
  ]
    .sort((a, b) => b.score - a.score || a.kind - b.kind || compare(a.id, b.id))
    .slice(0, limit);
  return readResults(market, best);
}

async function findCollections(
  market: Market,
  text: string,
  options: { chains: readonly string[]; limit: number },
): Promise<FoundCollection[]> {
  const address = parseAddress('evm', text) ?? parseAddress('solana', text);
  const names = {
    written: text,
    parts: toParts(text),
    id: text.toLowerCase(),
    address,
    addressPrefix: toAddressPrefix(text),
  };
  const query = { ...options, ...names, prefix: toSearchText(text) };
  return requireValue(await market.primary.read((db) => listCollectionsLike(db, query)), 'unavailable');
}

/** The text as addresses are stored, if an address may begin with it. Null for a text that is too short to say so. */
function toAddressPrefix(text: string): string | null {
  if (/^0x[0-9a-f]{4,40}$/i.test(text)) return text.toLowerCase();
  return /^[1-9A-HJ-NP-Za-km-z]{6,44}$/.test(text) ? text : null;
}

function rank<T>(candidates: readonly T[], toScore: (found: T) => number): { found: T; score: number }[] {
  return candidates
    .map((found) => ({ found, score: toScore(found) }))
    .filter(({ score }) => score >= SCORE_MIN)
    .sort((a, b) => b.score - a.score);
}

function scoreOf(text: string, { id, name, slug, contractAddress }: FoundCollection): number {
  const same = [id, slug, contractAddress].some((one) => one?.toLowerCase() === text.toLowerCase());
  if (same) return 1;
  const prefix = toAddressPrefix(text);
  const ofAddress = prefix !== null && contractAddress?.startsWith(prefix) ? prefixScore(prefix, contractAddress) : 0;
  return Math.max(ofAddress, nameScore(text, name), nameScore(text, slug ?? ''));
}

/** The larger the part of the name that the query covers, the higher the score. */
function prefixScore(wanted: string, found: string): number {
  return PREFIX_SCORE + (1 - PREFIX_SCORE) * (wanted.length / found.length);
}

function nameScore(text: string, name: string): number {
  const [wanted, found] = [toSearchText(text.normalize('NFC')), toSearchText(name.normalize('NFC'))];
  if (wanted === found) return 1;
  if (found.startsWith(wanted)) return prefixScore(wanted, found);
  const [plain, plainFound] = [toSearchText(withoutAccents(wanted)), toSearchText(withoutAccents(found))];
  if (plain === plainFound && plain !== '') return UNACCENTED_SCORE;
  if (plain !== '' && plainFound.startsWith(plain)) return prefixScore(plain, plainFound) - UNACCENTED_LOSS;
  const similar = SIMILAR_SCORE * similarityOf(text, name);
  if (!hasIdeographs(plain) || !plainFound.includes(plain)) return similar;
  return Math.max(similar, CONTAINED_SCORE + (SIMILAR_SCORE - CONTAINED_SCORE) * (plain.length / plainFound.length));
}

function withoutRepeats(tokens: readonly FoundToken[]): FoundToken[] {
  return [...new Map(tokens.map((token) => [`${token.collectionId} ${token.asset}`, token])).values()];
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

async function readResults(
  market: Market,
  best: readonly { score: number; id: string; found: FoundCollection | FoundToken }[],
): Promise<SearchResults> {
  const ids = best.flatMap(({ found }) => ('id' in found ? [found.id] : []));
  const locations = best.flatMap(({ found }) => ('id' in found ? [] : (toTokenLocation(market, found) ?? [])));
  const [{ summaries, degraded }, { tokens, observation, complete }] = await Promise.all([
    readSummaries(market, ids),
    readTokens(market, market.searches, locations),
  ]);
  requireValue(observation, 'upstream_error');
  const summaryById = new Map(summaries.map((summary) => [summary.collection.id, summary]));
  const tokenByKey = new Map(tokens.map((token) => [`${token.collectionId} ${token.asset}`, token]));
  const results = best.flatMap(({ score, id }): SearchResult[] => {
    const summary = summaryById.get(id);
    const token = tokenByKey.get(id);
    if (summary) return [{ score, summary }];
    return token && !token.isBurned ? [{ score, token }] : [];
  });
  return { results, degraded: degraded || !complete };
}
