// The formats of recorded answers that `mercat import` reads: where their rows stand, what has to be said of them by --set, and
// which source makes records of them. It must never make a record itself.

import { parseAddress } from '../../core/address.ts';
import type { Address } from '../../core/address.ts';
import type { Chain, Chains } from '../../core/chains.ts';
import type { ChainFamily } from '../../core/address.ts';
import { JsonNumber } from '../../core/json-text.ts';
import { parseTime } from '../../core/time.ts';
import { OperatorError } from '../../core/errors.ts';
import { parseDasTokens } from '../../upstreams/das/assets.ts';
import { parseMagicEdenAsks, hasMagicEdenAsks, isUnderstoodAsk } from '../../upstreams/magic-eden/evm.ts';
import { parseMagicEdenListings, parseMagicEdenSales } from '../../upstreams/magic-eden/solana.ts';
import { parseOpenSeaListings } from '../../upstreams/opensea/listings.ts';
import { parseOpenSeaSales } from '../../upstreams/opensea/sales.ts';
import { toOpenSeaChain } from '../../upstreams/opensea/location.ts';
import { parseOpenSeaTokens } from '../../upstreams/opensea/tokens.ts';
import { isLeftOut } from '../../upstreams/opensea/walk-rows.ts';
import type { ParsedPage } from '../../upstreams/rows.ts';

export const ANSWER_FORMATS = [
  'opensea-listings',
  'opensea-events',
  'opensea-nfts',
  'magic-eden-listings',
  'magic-eden-activities',
  'magic-eden-asks',
  'das-assets',
] as const;
export type AnswerFormat = (typeof ANSWER_FORMATS)[number];

/** How the answers of one import are read. */
export type AnswerReader = {
  /** The rows of an answer, or why it has none; null for a value that is a row itself. */
  toRows(answer: unknown): readonly unknown[] | { reason: string } | null;
  /** What one row comes to. */
  harvest(row: unknown): ParsedPage;
  /** Whether a row that was refused with this reason was left out on purpose. */
  isLeftOut(reason: string): boolean;
  /** In words, what the rows are that come to nothing. */
  nothing: string;
};

export type AnswerContext = { chains: Chains; now: number };

/** The reader of a format, for what --set says of the answers. Throws an OperatorError that names what is missing or wrong. */
export function createAnswerReader(
  format: AnswerFormat,
  told: ReadonlyMap<string, string>,
  { chains, now }: AnswerContext,
): AnswerReader {
  const { needs, takes = [] } = FIELDS[format];
  const known: readonly string[] = [...needs, ...takes];
  const unknown = [...told.keys()].find((field) => !known.includes(field));
  if (unknown !== undefined) wrong(`--set ${unknown}: --format ${format} takes ${known.join(', ')}`);
  const missing = needs.filter((field) => !told.has(field));
  if (missing.length > 0) {
    wrong(`--format ${format} needs ${missing.map((field) => `--set ${field}=${MEANINGS[field]}`).join(' and ')}`);
  }
  return READERS[format]({ told, chains, now });
}

type Field = 'chain' | 'contractAddress' | 'symbol' | 'at';

const MEANINGS: Readonly<Record<Field, string>> = {
  chain: 'CHAIN',
  contractAddress: 'ADDRESS',
  symbol: 'SYMBOL (the name that Magic Eden has for the collection)',
  at: 'TIME (when the answers were recorded: they do not tell)',
};

const EVM = ['chain', 'contractAddress'] as const;
const SOLANA = ['contractAddress', 'symbol'] as const;

/** What --set has to say, and what it may say. */
const FIELDS: Readonly<Record<AnswerFormat, { needs: readonly Field[]; takes?: readonly Field[] }>> = {
  'opensea-listings': { needs: EVM },
  'opensea-events': { needs: EVM },
  'opensea-nfts': { needs: EVM },
  'magic-eden-listings': { needs: [...SOLANA, 'at'], takes: ['chain'] },
  'magic-eden-activities': { needs: SOLANA, takes: ['chain'] },
  'magic-eden-asks': { needs: EVM },
  'das-assets': { needs: [], takes: ['chain', 'contractAddress'] },
};

type Told = AnswerContext & { told: ReadonlyMap<string, string> };

const none = () => false;

const READERS: Readonly<Record<AnswerFormat, (told: Told) => AnswerReader>> = {
  'opensea-listings': (told) => {
    const subject = readOpenSea(told);
    return {
      // `orders` is what the interface before this one called them.
      toRows: (answer) => listOf(answer, ['listings', 'orders']),
      harvest: (row) => parseOpenSeaListings([row], subject, { begunBy: told.now }),
      isLeftOut,
      nothing: 'inactive, not begun, or of another chain or contract',
    };
  },
  'opensea-events': (told) => {
    const subject = readOpenSea(told);
    return {
      toRows: (answer) => listOf(answer, ['asset_events']),
      harvest: (row) => parseOpenSeaSales([row], subject),
      isLeftOut,
      nothing: 'no sale, or of another chain or contract',
    };
  },
  'opensea-nfts': (told) => {
    const subject = readOpenSea(told);
    return {
      // One that was asked for by itself comes alone.
      toRows: (answer) => (isObject(answer) && isObject(answer['nft']) ? [answer['nft']] : listOf(answer, ['nfts'])),
      harvest: (row) => parseOpenSeaTokens([row], subject),
      isLeftOut,
      nothing: 'disabled',
    };
  },
  'magic-eden-listings': (told) => {
    const collection = readSymbol(told);
    const now = readAt(told);
    return {
      toRows: arrayOf,
      harvest: (row) => parseMagicEdenListings([row], collection, { now }),
      isLeftOut: none,
      nothing: 'of no concern',
    };
  },
  'magic-eden-activities': (told) => {
    const collection = readSymbol(told);
    return {
      toRows: arrayOf,
      harvest: (row) => parseMagicEdenSales([row], collection, { now: told.now, since: 0 }),
      isLeftOut: none,
      nothing: 'no sale',
    };
  },
  'magic-eden-asks': (told) => {
    const chain = readChain(told, 'evm');
    if (!hasMagicEdenAsks(chain)) wrong(`--set chain: Magic Eden has no asks on ${chain.id}`);
    const subject = { chain, contractAddress: readContract(told, 'evm'), begunBy: told.now };
    return {
      toRows: (answer) => listOf(answer, ['asks', 'orders']),
      harvest: (row) => parseMagicEdenAsks([row], subject),
      isLeftOut: isUnderstoodAsk,
      nothing: 'not active, not begun, or of another marketplace',
    };
  },
  'das-assets': (told) => {
    readChain(told, 'solana');
    const collection = told.told.has('contractAddress') ? readContract(told, 'solana') : null;
    return {
      toRows: toAssets,
      // In the place of a token that it does not know an endpoint tells null.
      harvest: (row) => (row === null ? { records: [], refused: [], skipped: 1 } : parseDasTokens([row], collection)),
      isLeftOut: none,
      nothing: 'fungible, burnt, unknown there, or of no collection',
    };
  },
};

/** No row of OpenSea's is judged by the slug. */
function readOpenSea(told: Told) {
  const chain = readChain(told, 'evm');
  if (toOpenSeaChain(chain) === null) wrong(`--set chain: OpenSea has no ${chain.id}`);
  return { slug: '', chain, contractAddress: readContract(told, 'evm') };
}

function readSymbol(told: Told) {
  readChain(told, 'solana');
  return { symbol: told.told.get('symbol') ?? '', contractAddress: readContract(told, 'solana') };
}

/** Of Solana there is one chain, which need not be said. */
function readChain({ told, chains }: Told, family: ChainFamily): Chain {
  const id = told.get('chain') ?? 'solana';
  const chain = chains.get(id);
  const fitting = [...chains.values()].filter((one) =>
    family === 'evm' ? one.family === family : one.id === 'solana',
  );
  if (chain && fitting.includes(chain)) return chain;
  return wrong(`--set chain: must be one of ${fitting.map((one) => one.id).join(', ')}, not ${id}`);
}

function readContract({ told }: Told, family: ChainFamily): Address {
  const text = told.get('contractAddress') ?? '';
  const form = family === 'evm' ? 'an EVM address' : 'a base58 address';
  return parseAddress(family, text) ?? wrong(`--set contractAddress: must be ${form}, not ${text}`);
}

function readAt({ told, now }: Told): number {
  const text = told.get('at') ?? '';
  const at = parseTime(text) ?? wrong(`--set at: must be an ISO 8601 time with Z or an offset, not ${text}`);
  return at <= now ? at : wrong(`--set at: ${text} is in the future`);
}

function wrong(why: string): never {
  throw new OperatorError(`${why}; see mercat import --help`, { exitCode: 2 });
}

type Rows = readonly unknown[] | { reason: string };

/** The list that an answer has under one of these names. */
function listOf(answer: unknown, names: readonly string[]): Rows {
  const lists = isObject(answer) ? names.map((name) => answer[name]) : [];
  return lists.find((list): list is unknown[] => Array.isArray(list)) ?? noAnswer(`has no list “${names[0]}”`);
}

/** An answer that is an array of rows; by itself, or in an array of answers. */
function arrayOf(answer: unknown): Rows | null {
  return Array.isArray(answer) ? answer : null;
}

/** The assets of a JSON-RPC answer, or of its result: a list, a batch, or one asset. */
function toAssets(answer: unknown): Rows | null {
  if (Array.isArray(answer)) return answer;
  if (!isObject(answer)) return null;
  const { error, result, items } = answer;
  if (isObject(error)) return noAnswer(`is an error: ${String(error['message']).slice(0, ERROR_LENGTH_MAX)}`);
  if (result !== undefined) return toAssets(result) ?? [result];
  return items === undefined ? null : listOf(answer, ['items']);
}

const ERROR_LENGTH_MAX = 200;

function noAnswer(why: string): { reason: string } {
  return { reason: `the answer ${why}` };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}
