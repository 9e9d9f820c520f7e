// Computes and stores the ranks of a collection's tokens. Tokens are read and ranks are written in batches. The new ranks are served only
// after all of them are stored.

import type { Clock } from '../../platform/core/clock.ts';
import type { Databases } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/port.ts';
import type { Figure } from '../provenance/figure.ts';
import { isCounted } from '../provenance/figure.ts';
import { toHoldingFigures } from '../provenance/holdings.ts';
import { listCollectionsByIds } from './queries/collections.ts';
import { changeIndexDetails } from '../index/change-index.ts';
import type { DueRanking, RankedScope, RankingResult, RarityState } from '../index/queries/rarity.ts';
import {
  countUnreadTokens,
  deleteOldRanks,
  findReportedRank,
  insertRanks,
  listTraitedTokens,
  updateRarity,
} from '../index/queries/rarity.ts';
import { listHoldingFacts } from '../index/queries/stats.ts';
import type { TokenRank } from '../index/rarity.ts';
import { RarityRanking } from '../index/rarity.ts';

type RankingContext = Pick<Databases, 'main' | 'indexer'> & { clock: Clock };

/** `changed`: how many ranks were stored. */
type RankedCollection = { state: RarityState; changed: number };

const TOKENS_AT_ONCE = 1_000;
/** A collection is ranked if the metadata of at most one token in this many was never read. Such a token gets no rank. */
const TOKENS_PER_UNREAD = 100;
/** An incomplete collection is examined again after this time. */
const INCOMPLETE_MS = 60_000;
/** The tokens of a collection are ranked at most this often. */
const RANKED_MS = 10 * 60_000;

/**
 * Ranks the tokens of a collection if all tokens are stored, the metadata of almost all tokens was read (`TOKENS_PER_UNREAD`), and no source
 * reports ranks. The stored ranks stay as they are while the collection is incomplete.
 */
export async function rankTokens(
  context: RankingContext,
  due: DueRanking,
  signal: AbortSignal,
): Promise<RankedCollection> {
  const { indexer, clock } = context;
  const { collectionId, revision } = due;
  await deleteUnservedRanks(indexer, collectionId, signal);
  const { list, tokens } = await findTokenList(context, collectionId);
  const finish = (state: RarityState, ranks: RankingResult['ranks'] = null) => {
    const dueAt = clock() + (state === 'incomplete' ? INCOMPLETE_MS : RANKED_MS);
    return updateRarity(indexer, { collectionId, state, revision, tokens, ranks, dueAt });
  };
  const isReported = await findReportedRank(indexer, collectionId);
  const read = isReported || list === null ? null : await readCompleteTraits(indexer, collectionId, list, signal);
  const state = isReported ? 'reported' : read === null ? 'incomplete' : toState(read);
  if (state !== 'ranked' || read === null || list === null) {
    await finish(state);
    return { state, changed: 0 };
  }
  const generation = due.generation + 1;
  const ranks = read.ranking.ranks();
  await storeRanks(indexer, { collectionId, generation }, ranks, signal);
  await finish('ranked', { generation, kind: list.kind, source: list.source, at: clock() });
  await deleteUnservedRanks(indexer, collectionId, signal);
  return { state, changed: ranks.length };
}

/** `list`: the supply if it was counted from stored tokens, and all tokens are stored. Otherwise null. `tokens`: how many tokens are stored. */
async function findTokenList(
  { main, indexer, clock }: RankingContext,
  id: string,
): Promise<{ list: Figure<number> | null; tokens: number }> {
  const [collection] = await listCollectionsByIds(main, [id]);
  const facts = (await listHoldingFacts(indexer, [id])).get(id) ?? null;
  const { snapshot, tokensComplete } = collection ?? {
    snapshot: { supply: null, owners: null },
    tokensComplete: false,
  };
  const { supply } = toHoldingFigures(facts, { snapshot, tokensComplete }, clock());
  return { list: isCounted(supply) ? supply : null, tokens: facts?.tokens ?? 0 };
}

/** Null if the metadata of too many tokens was never read. */
async function readCompleteTraits(
  indexer: Database,
  collectionId: string,
  { kind, value }: Figure<number>,
  signal: AbortSignal,
): Promise<TraitsRead | null> {
  const scope = { collectionId, onChain: kind === 'chain' };
  return (await isComplete(indexer, scope, value)) ? readTraits(indexer, scope, signal) : null;
}

async function isComplete(indexer: Database, scope: RankedScope, tokens: number): Promise<boolean> {
  const unreadMax = Math.floor(tokens / TOKENS_PER_UNREAD);
  return (await countUnreadTokens(indexer, scope, unreadMax + 1)) <= unreadMax;
}

type TraitsRead = { ranking: RarityRanking; fits: boolean };

async function readTraits(indexer: Database, scope: RankedScope, signal: AbortSignal): Promise<TraitsRead> {
  const ranking = new RarityRanking();
  for (let after = ''; ;) {
    signal.throwIfAborted();
    const tokens = await listTraitedTokens(indexer, scope, { after, limit: TOKENS_AT_ONCE });
    if (!tokens.every(({ asset, traits }) => ranking.add(asset, traits))) return { ranking, fits: false };
    const last = tokens.at(-1);
    if (!last || tokens.length < TOKENS_AT_ONCE) return { ranking, fits: true };
    after = last.asset;
  }
}

function toState({ ranking, fits }: TraitsRead): RarityState {
  if (!fits) return 'too-large';
  return ranking.hasTraits ? 'ranked' : 'untraited';
}

async function storeRanks(
  indexer: Database,
  target: { collectionId: string; generation: number },
  ranks: readonly TokenRank[],
  signal: AbortSignal,
): Promise<void> {
  for (let start = 0; start < ranks.length; start += TOKENS_AT_ONCE) {
    signal.throwIfAborted();
    const part = ranks.slice(start, start + TOKENS_AT_ONCE);
    await indexer.transaction((tx) =>
      changeIndexDetails(tx, [target.collectionId], () => insertRanks(tx, target, part)),
    );
  }
}

async function deleteUnservedRanks(indexer: Database, collectionId: string, signal: AbortSignal): Promise<void> {
  do signal.throwIfAborted();
  while ((await deleteOldRanks(indexer, collectionId, TOKENS_AT_ONCE)) === TOKENS_AT_ONCE);
}
