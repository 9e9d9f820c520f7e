// Readers for rows of upstream responses. A row becomes records in the public format, or is rejected with a reason. Numbers arrive as
// JsonNumber. A row is never repaired, and no value is guessed; the intake validates the records.

import type { Trait } from '../../market/index/queries/token-metadata.ts';
import type { Address, AssetId } from '../../platform/core/address.ts';
import { parseAddress, parseAssetId } from '../../platform/core/address.ts';
import type { ChainFamily } from '../../platform/core/address.ts';
import { UINT256_MAX } from '../../platform/core/amount.ts';
import { JsonNumber } from '../../platform/core/json-text.ts';

/** A record in the public format (docs/records.md) that the intake has not validated yet. */
export type SourceRecord = Readonly<Record<string, unknown>> & { readonly kind: string };

export type ParsedPage = {
  records: SourceRecord[];
  /** One reason for each row that is malformed or contradicts the request. */
  rejected: string[];
  /** One reason for each row that is understood but cannot be stored, such as a listing in another currency. */
  unsupported: string[];
  /** The number of rows that are well-formed but not wanted, such as bids among sales. */
  skipped: number;
  /** What the rows say about descriptions and traits of tokens. Absent if the vendor reports neither. */
  described?: readonly DescribedAsset[];
};

export type DescribedAsset = { asset: AssetId; description: string | null; traits: readonly Trait[] };

export type VendorRow = Readonly<Record<string, unknown>>;

/** The message names the field, and never contains its value. */
export class RowRejection extends Error {
  override readonly name = 'RowRejection';
  readonly isUnsupported: boolean;

  constructor(message: string, { isUnsupported = false }: { isUnsupported?: boolean } = {}) {
    super(message);
    this.isUnsupported = isUnsupported;
  }
}

export function rejectRow(field: string, why: string): never {
  throw new RowRejection(`${field}: ${why}`);
}

/** Rejects a row that is understood but cannot be stored. */
export function rejectUnsupported(field: string, why: string): never {
  throw new RowRejection(`${field}: ${why}`, { isUnsupported: true });
}

export function emptyPage(): ParsedPage {
  return { records: [], rejected: [], unsupported: [], skipped: 0 };
}

/** A row gives any number of records. A row that gives none counts as skipped. */
export function parseRows(
  rows: readonly unknown[],
  toRecords: (row: VendorRow) => readonly SourceRecord[],
): ParsedPage {
  const page = emptyPage();
  for (const value of rows) {
    try {
      const records = toRecords(toRow(value, 'row'));
      if (records.length === 0) page.skipped += 1;
      page.records.push(...records);
    } catch (error) {
      if (!(error instanceof RowRejection)) throw error;
      (error.isUnsupported ? page.unsupported : page.rejected).push(error.message);
    }
  }
  return page;
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

/** Null when the field is missing, null or empty. */
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

/** The literal of a number, such as `5.3885` or `1e-05`; null when the field is missing or null. */
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

/**
 * An integer of 0 or more and of at most 256 bits, as decimal text. The row may have a number, digits, or `0x` and hex digits. Null when
 * the field is missing, null or empty.
 */
export function optionalDigits(row: VendorRow, field: string): string | null {
  const text = typeof row[field] === 'string' ? optionalText(row, field) : optionalNumberText(row, field);
  if (text === null) return null;
  if (!/^(\d{1,78}|0x[0-9a-f]{1,64})$/i.test(text)) rejectRow(field, 'must be an integer of 0 or more');
  const value = BigInt(text);
  return value <= UINT256_MAX ? value.toString() : rejectRow(field, 'has more than 256 bits');
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
  return parseAssetId(family, requiredText(row, field)) ?? rejectRow(field, `is not an asset of the family ${family}`);
}

/** An ISO 8601 time. Rejects seconds that are not positive, and times after the year 9999. */
export function toTime(seconds: number, field: string): string {
  if (seconds <= 0 || seconds >= SECONDS_MAX) return rejectRow(field, 'is not a time in seconds since 1970');
  return new Date(seconds * 1_000).toISOString();
}

const SECONDS_MAX = Date.UTC(10_000, 0, 1) / 1_000;

function nameType(value: unknown): string {
  if (value instanceof JsonNumber) return 'a number';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value === undefined) return 'absent';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
