// Offsets: how clients name positions in the activity log.

/** As many digits as the largest safe integer has. */
const DIGITS = 16;
const OFFSET = /^\d{16}$/;

/** A request with this offset begins with the oldest kept event. No event has this offset, because the first position is 1. */
export const OLDEST_OFFSET = '0';

/** All offsets have the same length, so the order of their texts is the order of the events. */
export function toOffset(position: number): string {
  return String(position).padStart(DIGITS, '0');
}

/** The position that an offset names. Null for any text that `toOffset` does not return. */
export function parseOffset(text: string): number | null {
  const position = OFFSET.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(position) ? position : null;
}
