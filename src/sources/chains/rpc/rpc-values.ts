// Strict readers of single values in JSON-RPC results. They throw RpcFailure of kind `invalid-response` for a value that does not have the expected form.

import type { BlockHeader } from '../../../market/chain-log/chain-event.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { invalidResponse } from './rpc-failure.ts';

/** `bloom` is null if the response has no bloom, or a bloom of zeros. */
export type BloomedHeader = { header: BlockHeader; bloom: Hex | null };

const QUANTITY = /^0x[0-9a-f]{1,16}$/i;
const HASH = /^0x[0-9a-f]{64}$/;
const NOT_HEX = /[^0-9a-f]/;
const BLOOM_LENGTH = 2 + 512;
const ZERO_BLOOM = /^0x0*$/;
/** The last second of the year 9999. Later times are rejected, so that every time fits a database timestamp. */
const SECONDS_MAX = 253_402_300_799;

export function readQuantity(value: unknown, what: string): number {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw invalidResponse(`${what} is not a quantity`);
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw invalidResponse(`${what} is too large`);
  return number;
}

/** `value` is in seconds, the result in milliseconds. */
export function readTime(value: unknown, what: string): number {
  const seconds = readQuantity(value, what);
  if (seconds > SECONDS_MAX) throw invalidResponse(`${what} is too large`);
  return seconds * 1000;
}

export function readHash(value: unknown, what: string): Hex {
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (!HASH.test(text)) throw invalidResponse(`${what} is not a hash`);
  return text as Hex;
}

export function readBytes(value: unknown, what: string): Hex {
  if (typeof value !== 'string') throw invalidResponse(`${what} is not hexadecimal`);
  const text = value.toLowerCase();
  // Call data may have a hundred thousand digits. A search for one invalid digit is faster than a pattern of pairs of digits.
  const isWrong = !text.startsWith('0x') || text.length % 2 !== 0 || NOT_HEX.test(text.slice(2));
  if (isWrong) throw invalidResponse(`${what} is not hexadecimal`);
  return text as Hex;
}

/** Null when the result is null or missing, which means that the endpoint does not have the block. */
export function readHeader(value: unknown): BloomedHeader | null {
  if (value === null || value === undefined) return null;
  const block = readObject(value, 'a block');
  const header = {
    number: readQuantity(block['number'], 'the number of a block'),
    hash: readHash(block['hash'], 'the hash of a block'),
    parentHash: readHash(block['parentHash'], 'the parent of a block'),
    time: readTime(block['timestamp'], 'the time of a block'),
  };
  return { header, bloom: readBloom(block['logsBloom']) };
}

function readBloom(value: unknown): Hex | null {
  if (value === null || value === undefined) return null;
  const bloom = readBytes(value, 'the bloom of a block');
  if (ZERO_BLOOM.test(bloom)) return null;
  if (bloom.length !== BLOOM_LENGTH) throw invalidResponse('the bloom of a block has the wrong length');
  return bloom;
}

export function readObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidResponse(`${what} is not an object`);
  }
  return value as Record<string, unknown>;
}

export function toQuantity(number: number): Hex {
  return `0x${number.toString(16)}`;
}
