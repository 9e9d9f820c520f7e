// Rows of upstream answers become records in the public format, or are refused with a reason and counted. Numbers come as
// JsonNumber. A row that does not make sense is never mended and never guessed; what a record means is checked by intake.

import type { Address, AssetId } from '../core/address.ts';
import { parseAddress, parseAssetId } from '../core/address.ts';
import type { ChainFamily } from '../core/address.ts';
import { JsonNumber } from '../core/json-text.ts';

/** A record in the public format (docs/records.md), before intake has looked at it. */
export type SourceRecord = Readonly<Record<string, unknown>> & { readonly kind: string };

/** What became of the rows of one answer. `skipped` rows are sound and of no concern, such as bids among sales. */
export type ParsedPage = { records: SourceRecord[]; refused: string[]; skipped: number };

/** An object of an answer. */
export type VendorRow = Readonly<Record<string, unknown>>;

/** Why a row is not taken: it names the field, and says of its value no more than its type. */
export class RowRejection extends Error {
  override readonly name = 'RowRejection';
}

export function rejectRow(field: string, why: string): never {
  throw new RowRejection(`${field}: ${why}`);
}

/** The records of all rows: none, one or several a row. */
export function parseRows(
  rows: readonly unknown[],
  toRecords: (row: VendorRow) => readonly SourceRecord[],
): ParsedPage {
  const harvest: ParsedPage = { records: [], refused: [], skipped: 0 };
  for (const value of rows) {
    try {
      const records = toRecords(toRow(value, 'row'));
      if (records.length === 0) harvest.skipped += 1;
      harvest.records.push(...records);
    } catch (error) {
      if (!(error instanceof RowRejection)) throw error;
      harvest.refused.push(error.message);
    }
  }
  return harvest;
}

export function toRow(value: unknown, field: string): VendorRow {
  return isRow(value) ? value : rejectRow(field, `must be an object, not ${nameType(value)}`);
}

export function isRow(value: unknown): value is VendorRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

export function optionalRow(row: VendorRow, field: string): VendorRow | null {
  const value = row[field] ?? null;
  return value === null ? null : toRow(value, field);
}

export function optionalRows(row: VendorRow, field: string): readonly unknown[] {
  const value = row[field] ?? [];
  return Array.isArray(value) ? value : rejectRow(field, `must be an array, not ${nameType(value)}`);
}

/** Empty text says as little as none. */
export function optionalText(row: VendorRow, field: string): string | null {
  const value = row[field] ?? null;
  if (value === null || value === '') return null;
  return typeof value === 'string' ? value : rejectRow(field, `must be a string, not ${nameType(value)}`);
}

export function requiredText(row: VendorRow, field: string): string {
  return optionalText(row, field) ?? rejectRow(field, 'is missing');
}

export function optionalFlag(row: VendorRow, field: string): boolean | null {
  const value = row[field] ?? null;
  if (value === null || typeof value === 'boolean') return value;
  return rejectRow(field, `must be true or false, not ${nameType(value)}`);
}

/** The literal of a number, such as `5.3885` or `1e-05`. */
export function optionalNumberText(row: VendorRow, field: string): string | null {
  const value = row[field] ?? null;
  if (value === null) return null;
  return value instanceof JsonNumber ? value.text : rejectRow(field, `must be a number, not ${nameType(value)}`);
}

export function optionalInteger(row: VendorRow, field: string): number | null {
  const text = optionalNumberText(row, field);
  if (text === null) return null;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : rejectRow(field, 'must be an integer');
}

export function requiredInteger(row: VendorRow, field: string): number {
  return optionalInteger(row, field) ?? rejectRow(field, 'is missing');
}

export function optionalAddress(row: VendorRow, field: string, family: ChainFamily): Address | null {
  const text = optionalText(row, field);
  if (text === null) return null;
  return parseAddress(family, text) ?? rejectRow(field, `is not an address of the family ${family}`);
}

export function requiredAddress(row: VendorRow, field: string, family: ChainFamily): Address {
  return optionalAddress(row, field, family) ?? rejectRow(field, 'is missing');
}

/** A token id in digits, or a mint. */
export function requiredAsset(row: VendorRow, field: string, family: ChainFamily): AssetId {
  return parseAssetId(family, requiredText(row, field)) ?? rejectRow(field, `is no asset of the family ${family}`);
}

/** The time of seconds since the epoch, from 1970 to 9999. */
export function toTime(seconds: number, field: string): string {
  if (seconds <= 0 || seconds >= SECONDS_MAX) return rejectRow(field, 'is no time in seconds since 1970');
  return new Date(seconds * 1_000).toISOString();
}

const SECONDS_MAX = Date.UTC(10_000, 0, 1) / 1_000;

function nameType(value: unknown): string {
  if (value instanceof JsonNumber) return 'a number';
  return Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`;
}
