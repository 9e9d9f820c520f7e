// Offsets: how clients name positions in the activity log. An offset is the epoch of the log, a hyphen, and the position. A restored database and a
// new one begin a new epoch, so that an offset never names another event than the one that the client has seen.

/** As many digits as the largest safe integer has. */
const DIGITS = 16;
/** An epoch has the time of its beginning, in seconds, and four random characters. */
const OFFSET = /^([0-9a-f]{12})-(\d{16})$/;
export const OFFSET_PATTERN = '^[0-9a-f]{12}-[0-9]{16}$';

/** A position in a log. `epoch`: which log it is. */
export type StreamPosition = { epoch: string; position: number };

/** A request with this offset begins with the oldest kept event. No event has this offset, because the first position is 1. */
export const OLDEST_OFFSET = '0';

/** All offsets have the same length, so the order of their texts is the order of the events of an epoch. */
export function toOffset(epoch: string, position: number): string {
  return `${epoch}-${String(position).padStart(DIGITS, '0')}`;
}

/** What an offset names. Null for any text that `toOffset` does not return. */
export function parseOffset(text: string): StreamPosition | null {
  const [, epoch = '', digits = ''] = OFFSET.exec(text) ?? [];
  const position = digits === '' ? Number.NaN : Number(digits);
  return Number.isSafeInteger(position) ? { epoch, position } : null;
}

/** An offset for the examples of the OpenAPI document. */
export function toExampleOffset(position: number): string {
  return toOffset('6929f1a07c3e', position);
}
