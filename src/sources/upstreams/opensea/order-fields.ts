// Reads the fields that the signed orders in OpenSea's rows of listings and offers have in common.

import { parseAmount } from '../../../platform/core/amount.ts';
import type { VendorRow } from '../response-rows.ts';
import { rejectRow, requiredText, toTime } from '../response-rows.ts';

const STATUSES: Readonly<Record<string, string>> = {
  ACTIVE: 'active',
  FULFILLED: 'filled',
  EXPIRED: 'expired',
  CANCELLED: 'cancelled',
};

/** Null for an order that cannot be filled now. OpenSea reports it as active when it can be filled again. */
export function readOrderStatus(row: VendorRow): string | null {
  const status = requiredText(row, 'status');
  if (status === 'INACTIVE') return null;
  return STATUSES[status] ?? rejectRow('status', 'is unknown');
}

const ORDER_HASH = /^0x[0-9a-f]{64}$/i;

/** In lower case. */
export function readOrderHash(row: VendorRow): string {
  const orderHash = requiredText(row, 'order_hash').toLowerCase();
  return ORDER_HASH.test(orderHash) ? orderHash : rejectRow('order_hash', 'is not a hash');
}

export function readOrderAmount(row: VendorRow, field: string): bigint {
  return parseAmount(requiredText(row, field)) ?? rejectRow(field, 'is not an amount in digits');
}

/** The amount of an item. Rejects the row if the amount changes with time. */
export function readFixedAmount(item: VendorRow, name: string): bigint {
  const amount = readOrderAmount(item, 'startAmount');
  return readOrderAmount(item, 'endAmount') === amount ? amount : rejectRow(name, 'is not a fixed amount');
}

/** In seconds since the epoch. */
export function readOrderSeconds(order: VendorRow, field: string): number {
  const text = requiredText(order, field);
  return /^\d{1,78}$/.test(text) ? Number(text) : rejectRow(field, 'is not a time in digits');
}

const ENDLESS_S = Date.UTC(9_999, 0, 1) / 1_000;

/** Returns null for a time in the year 9999 or later, because such a time stands for an order without an end. */
export function readOrderEnd(order: VendorRow): string | null {
  const seconds = readOrderSeconds(order, 'endTime');
  return seconds >= ENDLESS_S ? null : toTime(seconds, 'endTime');
}
