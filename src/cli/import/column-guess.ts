// Guesses the field of each column of a file that another program wrote. The guess uses the names of the columns and the values of the first
// rows. The person who imports checks and edits the guess.

import type { ChainFamily } from '../../platform/core/address.ts';
import type { Chain, Chains } from '../../platform/core/chains.ts';
import type { ColumnSource, FieldSource } from '../../intake/csv/column-map.ts';
import { PLACEHOLDER } from '../../intake/csv/column-map.ts';
import type { RecordKind } from '../../intake/records/kinds.ts';
import type { FieldRule, FieldRules } from './column-rules.ts';
import {
  CURRENCY_NAMES,
  EVENT_NAMES,
  FIELD_RULES,
  KIND_SIGNS,
  NATIONAL_PRICE,
  NOT_THE_PRICE,
  PROJECT_OF_DUNE,
  SALE_EVENT,
  SOURCE_ALIASES,
  SOURCE_NAMES,
} from './column-rules.ts';
import { acceptNationalPrice, acceptAnyText, acceptPrice, asIs, findTimes } from './column-values.ts';

/** A column and its values in the first rows, without blank values. */
export type SampledColumn = { name: string; samples: readonly string[] };

/** The guessed map, and notes about what the person should check. */
export type Guess = { kind: RecordKind; map: Record<string, FieldSource>; notes: string[] };

/** Returns null if no kind of record fits. `given`: the fields that the person has set, with one value for every row. */
export function guessColumns(
  columns: readonly SampledColumn[],
  { chains, given }: { chains: Chains; given: ReadonlyMap<string, string> },
): Guess | null {
  const wanted = given.get('kind');
  for (const [kind, signs] of KIND_SIGNS) {
    const found = findFields(columns, FIELD_RULES[kind] ?? {});
    if (kind === 'sale' && !found['price']) Object.assign(found, findNationalPrice(columns));
    const fits = signs.every((fields) => fields.some((field) => Object.hasOwn(found, field) || given.has(field)));
    if (wanted === undefined ? fits : wanted === kind) return completeGuess(kind, found, { columns, chains, given });
  }
  return null;
}

function findFields(columns: readonly SampledColumn[], rules: FieldRules): Record<string, ColumnSource> {
  const found: Record<string, ColumnSource> = {};
  const used = new Set<string>();
  for (const [field, fieldRules] of Object.entries(rules)) {
    if (field === 'mint' && found['tokenId']) continue;
    const source = [fieldRules]
      .flat()
      .reduce<ColumnSource | null>((earlier, rule) => earlier ?? findColumn(columns, { ...rule, used }), null);
    if (!source) continue;
    found[field] = source;
    used.add(source.column);
  }
  return found;
}

function findColumn(
  columns: readonly SampledColumn[],
  { names, except, accepts, used = new Set() }: FieldRule & { used?: ReadonlySet<string> },
): ColumnSource | null {
  for (const name of names) {
    for (const matches of [matchesName, matchesLastName]) {
      for (const { name: column, samples } of columns) {
        if (used.has(column) || !matches(column, name) || except?.test(toWords(column))) continue;
        const source = isOfAnotherThing(column, name) ? null : accepts(samples);
        if (source) return { column, ...source };
      }
    }
  }
  return null;
}

const OTHER_THINGS = /(^|_)(tx|txn|transaction|block|log|order|listing|user|row|event|collection|set)_/;

/**
 * Whether a column fits a name with `*` but holds something else. `tx_id` fits `*_id`, but has the id of a transaction and not of a token.
 * `price_usd` fits `price_*`, but is not in the currency of the chain.
 */
function isOfAnotherThing(column: string, name: string): boolean {
  const words = toWords(column);
  return name.includes('*') && (OTHER_THINGS.test(words) || NATIONAL_PRICE.test(words));
}

/** Column names are compared in lower case, with underscores between words. `*` stands for any words. */
function matchesName(column: string, name: string): boolean {
  const words = toWords(column);
  if (name.startsWith('*')) return words.endsWith(name.slice(1));
  return name.endsWith('*') ? words.startsWith(name.slice(0, -1)) : words === name;
}

/** Compares only the part of the column name after its last dot. */
function matchesLastName(column: string, name: string): boolean {
  return matchesName(column.slice(column.lastIndexOf('.') + 1), name);
}

/** `Verkäufer` becomes `verkaufer`, and `tokenId` becomes `token_id`. */
function toWords(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
}

function samplesOf(columns: readonly SampledColumn[], column: string): readonly string[] {
  return columns.find(({ name }) => name === column)?.samples ?? [];
}

/** The price of a file that has prices in a national currency only. The sales of such a file are kept, and /v1 does not serve them. */
function findNationalPrice(columns: readonly SampledColumn[]): Record<string, ColumnSource> {
  for (const { name, samples } of columns) {
    const symbol = NATIONAL_PRICE.exec(toWords(name))?.[1];
    const source = symbol === undefined ? null : acceptNationalPrice(samples);
    if (symbol !== undefined && source) {
      return { price: { column: name, ...source, currency: { value: symbol.toUpperCase() } } };
    }
  }
  return {};
}

type GuessContext = { columns: readonly SampledColumn[]; chains: Chains; given: ReadonlyMap<string, string> };

/** Adds a value for each required field that has no column. */
function completeGuess(kind: RecordKind, found: Record<string, ColumnSource>, context: GuessContext): Guess {
  const { columns, given } = context;
  const notes: string[] = [];
  const map: Record<string, FieldSource> = { kind: guessKind(kind, columns, notes) };
  const isTrade = kind === 'sale' || kind === 'listing';
  if (isTrade) map['source'] = guessSource(columns, notes);
  if (kind === 'product') map['shop'] = toPlaceholder('the name of the shop', 'shop', notes);
  else Object.assign(map, guessChain(found, context, notes));
  if (kind !== 'product' && kind !== 'collection' && !found['contractAddress']) {
    map['contractAddress'] = toPlaceholder('the contract address of the collection', 'contractAddress', notes);
  }
  for (const [field, source] of Object.entries(found)) map[field] = source;
  if (isTrade && !found['timestamp'])
    map['timestamp'] = toPlaceholder('the time of all rows, such as 2026-05-01T00:00:00Z', 'timestamp', notes);
  if (
    columns.some(({ name, samples }) => toWords(name) === 'side' && samples.some((side) => /^(buy|bid)/i.test(side)))
  ) {
    notes.push('side: the file has bids; import them as records of the kind bid, and leave them out here');
  }
  for (const field of ['price', 'priceRaw']) {
    const price = found[field];
    if (isTrade && price) map[field] = completePrice(price, { field, columns, notes });
  }
  if ((isTrade || kind === 'token') && !found['price'] && !found['priceRaw']) noteOtherAmounts(columns, notes);
  const timestamp = found['timestamp'];
  if (timestamp) noteTime(timestamp, columns, notes);
  for (const [field, value] of given) map[field] = { value };
  return { kind, map, notes: notes.filter((note) => !given.has(note.split(':')[0] ?? '')) };
}

function toPlaceholder(what: string, field: string, notes: string[]): FieldSource {
  notes.push(`${field}: the file does not contain it; edit the map, or give --set ${field}=VALUE`);
  return { value: `${PLACEHOLDER}${what}` };
}

/** If a file of sales also has rows of other events, such as listings and bids, these rows are given no kind, so that they are refused. */
function guessKind(kind: RecordKind, columns: readonly SampledColumn[], notes: string[]): FieldSource {
  if (kind === 'token' && isTransfers(columns)) {
    notes.push('kind: the file has transfers without prices, which no record can hold; only their tokens are read');
  }
  const event = kind === 'sale' ? findColumn(columns, { names: EVENT_NAMES, accepts: acceptAnyText }) : null;
  const events = [...new Set(event ? samplesOf(columns, event.column) : [])];
  const [sales, others] = [events.filter(isSaleEvent), events.filter((text) => !isSaleEvent(text))];
  if (!event || sales.length === 0 || others.length === 0) return { value: kind };
  notes.push(
    `kind: rows with ${others.join(', ')} in the column ${JSON.stringify(event.column)} are not sales, and are refused`,
  );
  return { ...event, map: Object.fromEntries(sales.map((text) => [text, kind])) };
}

function isSaleEvent(text: string): boolean {
  return SALE_EVENT.test(text.trim().replaceAll(/[\s-]+/g, '_'));
}

function isTransfers(columns: readonly SampledColumn[]): boolean {
  const { seller, buyer, tx } = findFields(columns, FIELD_RULES['sale'] ?? {});
  return Boolean(seller && buyer && tx);
}

function guessSource(columns: readonly SampledColumn[], notes: string[]): FieldSource {
  const source =
    findColumn(columns, { names: SOURCE_NAMES, accepts: asIs(/^[\w .-]{1,64}$/u) }) ??
    findColumn(columns, { names: [PROJECT_OF_DUNE.name], accepts: asIs(PROJECT_OF_DUNE.form) });
  if (source) return { ...source, as: ['slug'], map: SOURCE_ALIASES };
  notes.push('source: the file does not name a marketplace, so the source is "import"');
  return { value: 'import' };
}

/** Maps the other names that files may use for a chain (its aliases and its EIP-155 chain id) to the id of the chain. */
function toChainAliases(chains: Chains): Record<string, string> {
  const namesOf = ({ aliases, chainId }: Chain) => [...aliases, ...(chainId === null ? [] : [String(chainId)])];
  const entries = [...chains.values()].flatMap((chain) => namesOf(chain).map((name) => [name, chain.id] as const));
  return Object.fromEntries(entries);
}

/** The first chain of the family in the table of chains. */
function firstChain(chains: Chains, family: ChainFamily): string {
  return [...chains.values()].find((chain) => chain.family === family)?.id ?? '';
}

function guessChain(
  found: Record<string, ColumnSource>,
  { columns, chains }: GuessContext,
  notes: string[],
): Record<string, FieldSource> {
  const aliases = toChainAliases(chains);
  const isKnown = (sample: string) => {
    const name = sample.trim().toLowerCase();
    return chains.has(name) || Object.hasOwn(aliases, name);
  };
  const contract = found['contractAddress'];
  const prefixes = contract ? samplesOf(columns, contract.column) : [];
  const accepts = (samples: readonly string[]) => (samples.length > 0 && samples.every(isKnown) ? {} : null);
  const column = findColumn(columns, { names: ['chain', 'blockchain', 'network', 'chain_id'], accepts });
  if (column && !prefixes.some((sample) => sample.includes(':0x'))) {
    const samples = samplesOf(columns, column.column);
    const used = [...new Set(samples.map((sample) => sample.trim().toLowerCase()))].filter((name) => !chains.has(name));
    const map = Object.fromEntries(used.map((name) => [name, aliases[name] ?? name]));
    return { chain: { ...column, as: ['lower'], ...(used.length > 0 && { map }) } };
  }
  if (contract && prefixes.length > 0 && prefixes.every((sample) => isKnown(/^(\w+):0x/.exec(sample)?.[1] ?? ''))) {
    return { chain: { column: contract.column, pattern: '^(\\w+):', as: ['lower'], map: aliases } };
  }
  const value = firstChain(chains, found['mint'] === undefined ? 'evm' : 'solana');
  notes.push(`chain: the file does not name a chain, so it is ${value}; edit the map if that is wrong`);
  return { chain: { value } };
}

/** Adds the column of the currency. Adds notes about the unit of the price (native or base), and about rows that trade several tokens at once. */
function completePrice(
  price: ColumnSource,
  { field, columns, notes }: { field: string; columns: readonly SampledColumn[]; notes: string[] },
): ColumnSource {
  const named = JSON.stringify(price.column);
  if (typeof price.currency === 'object') {
    notes.push(
      `${field}: the file has prices in ${price.currency.value} only; such sales are kept but not served by /v1, because a price in the currency of the chain is missing`,
    );
    return price;
  }
  const unit = price.as?.includes('native-amount') ? 'native units, such as ETH or SOL' : 'base units, such as wei';
  notes.push(`${field}: the column ${named} is read in ${unit}`);
  const units = columns.find(({ name }) => toWords(name) === 'quantity');
  if (units?.samples.some((sample) => Number(sample) !== 1)) {
    notes.push(
      `${field}: some rows trade several tokens at once; if the price is for one token, add "times": ${JSON.stringify(units.name)}`,
    );
  }
  const currency = findColumn(columns, {
    names: CURRENCY_NAMES,
    accepts: asIs(/^(\p{L}[\p{L}\d._]{1,19}|0x[0-9a-f]{40})$/iu),
  });
  return currency ? { ...price, as: price.as ?? ['base-amount'], currency: currency.column } : price;
}

/** Notes the columns with amounts other than the price, in a file that has no price. Without a price, only the tokens of its rows are read. */
function noteOtherAmounts(columns: readonly SampledColumn[], notes: string[]): void {
  for (const { name, samples } of columns) {
    if (!NOT_THE_PRICE.test(toWords(name)) || !acceptPrice(samples)) continue;
    notes.push(
      `price: the column ${JSON.stringify(name)} does not have the price that the marketplace states, so it is not read as a price`,
    );
  }
}

function noteTime({ column, as = [] }: ColumnSource, columns: readonly SampledColumn[], notes: string[]): void {
  const [first, second] = findTimes(samplesOf(columns, column));
  if (first?.startsWith('date:') && second !== undefined) {
    notes.push(
      `timestamp: day and month cannot be told apart; the column is read as ${as[0]}, but ${second} is possible too`,
    );
  }
  if (first === 'spreadsheet-time') {
    notes.push(
      `timestamp: the numbers in the column ${JSON.stringify(column)} are read as days of a spreadsheet, in UTC`,
    );
  }
}
