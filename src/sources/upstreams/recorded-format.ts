// Formats of recorded responses that `mercat import` reads. A format defines where a response has its rows, which fields --set must give,
// and which mapper turns a row into records.

import type { Address, ChainFamily } from '../../platform/core/address.ts';
import { parseAddress } from '../../platform/core/address.ts';
import type { Chain, Chains } from '../../platform/core/chains.ts';
import { OperatorError } from '../../platform/core/errors.ts';
import { parseTime } from '../../platform/core/time.ts';
import type { ParsedPage } from './response-rows.ts';
import { isRow } from './response-rows.ts';

export type RecordedFormat = {
  /** The value of --format: the vendor's name and the kind of rows, such as `opensea-listings`. */
  name: string;
  /** The fields of --set by name, required fields first. */
  fields: Readonly<Record<string, RecordedField>>;
  /** Throws OperatorError for a field whose value is wrong. */
  createReader: (fields: RecordedFields) => RecordedReader;
};

/** `placeholder` stands for the value in messages, for example `ADDRESS`. */
export type RecordedField = { placeholder: string; isOptional?: boolean };

export type RecordedReader = {
  /**
   * The rows of a response, or the reason why the response has no rows. Null for a value that is itself a row. `isElement`: the value is an
   * element of an array, which may be a list of rows.
   */
  toRows: (response: unknown, position: { isElement: boolean }) => RecordedRows | null;
  parse: (row: unknown) => ParsedPage;
  /** How the summary describes rows that give no record, for example `disabled`. */
  skipped: string;
};

export type RecordedRows = readonly unknown[] | { reason: string };

export const CHAIN: RecordedField = { placeholder: 'CHAIN' };
export const CONTRACT_ADDRESS: RecordedField = { placeholder: 'ADDRESS' };

type FieldContext = { chains: Chains; now: number };

/** The values of --set. Each value is parsed when it is read. If it is invalid, the read throws an OperatorError that names the field. */
export class RecordedFields {
  readonly now: number;
  readonly #values: ReadonlyMap<string, string>;
  readonly #chains: Chains;

  /** Throws OperatorError when a required field is missing or the format has no such field. */
  constructor(format: RecordedFormat, values: ReadonlyMap<string, string>, { chains, now }: FieldContext) {
    const known = Object.entries(format.fields);
    const unknown = [...values.keys()].find((name) => !Object.hasOwn(format.fields, name));
    if (unknown !== undefined) {
      throwUsage(`--set ${unknown}: --format ${format.name} takes ${known.map(([name]) => name).join(', ')}`);
    }
    const missing = known.filter(([name, { isOptional = false }]) => !isOptional && !values.has(name));
    if (missing.length > 0) {
      const needed = missing.map(([name, { placeholder }]) => `--set ${name}=${placeholder}`);
      throwUsage(`--format ${format.name} needs ${needed.join(' and ')}`);
    }
    this.now = now;
    this.#values = values;
    this.#chains = chains;
  }

  text(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  /** Without a field `chain`, the chain is `solana`. So a format for Solana does not need this field. */
  chain(family: ChainFamily): Chain {
    const id = this.text('chain') ?? 'solana';
    const allowed = [...this.#chains.values()].filter((chain) =>
      family === 'evm' ? chain.family === family : chain.id === 'solana',
    );
    const found = allowed.find((chain) => chain.id === id);
    return found ?? throwUsage(`--set chain: must be one of ${allowed.map((chain) => chain.id).join(', ')}, not ${id}`);
  }

  contractAddress(family: ChainFamily): Address {
    const text = this.text('contractAddress') ?? '';
    const form = family === 'evm' ? 'an EVM address' : 'a base58 address';
    return parseAddress(family, text) ?? throwUsage(`--set contractAddress: must be ${form}, not ${text}`);
  }

  /** When the responses were recorded, in milliseconds. */
  recordedAt(): number {
    const text = this.text('at') ?? '';
    const at = parseTime(text);
    if (at === null) return throwUsage(`--set at: must be an ISO 8601 time with Z or an offset, not ${text}`);
    return at <= this.now ? at : throwUsage(`--set at: ${text} is in the future`);
  }
}

export function throwUsage(why: string): never {
  throw new OperatorError(`${why}; see mercat import --help`, { exitCode: 2 });
}

/** Returns the list in the first of the fields `names` that has a list. Returns a reason if none of these fields has a list. */
export function listUnder(response: unknown, names: readonly string[]): RecordedRows {
  const lists = isRow(response) ? names.map((name) => response[name]) : [];
  const list = lists.find((value): value is unknown[] => Array.isArray(value));
  return list ?? toNoRows(`has no list “${names[0]}”`);
}

/** Null for a value that is not an array. Such a value is itself a row, because a file that is a single array is read row by row. */
export function toArrayRows(response: unknown): RecordedRows | null {
  return Array.isArray(response) ? response : null;
}

export function toNoRows(why: string): { reason: string } {
  return { reason: `the response ${why}` };
}
