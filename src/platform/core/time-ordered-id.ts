// Makes ids that sort by creation time. An id has a prefix, 48 bits of milliseconds, a counter, and random bytes. Each id is greater than
// all ids that the process made earlier with the same prefix, even after the clock was set back.

import { randomFillSync } from 'node:crypto';

const COUNTER_MAX = 0xffff;
const RANDOM_BYTES = 8;
/** Random bytes are drawn for many ids at a time, because a draw takes longer than the rest of an id. */
const drawn = Buffer.alloc(512 * RANDOM_BYTES);
let used = drawn.length;

let lastMs = 0;
let counter = 0;

/** A new id such as `prod_019aa5…`: lower-case hexadecimal after the prefix. */
export function createId(prefix: string, now: number): string {
  if (now > lastMs) {
    lastMs = now;
    counter = 0;
  } else if (counter < COUNTER_MAX) counter += 1;
  else {
    lastMs += 1;
    counter = 0;
  }
  const time = lastMs.toString(16).padStart(12, '0');
  return `${prefix}_${time}${counter.toString(16).padStart(4, '0')}${drawRandom()}`;
}

function drawRandom(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += RANDOM_BYTES;
  return drawn.toString('hex', used - RANDOM_BYTES, used);
}

export function isId(prefix: string, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-f]{32}$/.test(text.slice(prefix.length + 1));
}
