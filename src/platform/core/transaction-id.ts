// Converts the ids of transactions to canonical form. On EVM chains the id of a transaction is a hash, on Solana it is a signature.

import { base58 } from '@scure/base';
import type { ChainFamily } from './address.ts';

/** Programs that treat a hash as a number drop its leading zeros, so a hash may be written with fewer than 64 digits. */
const EVM_HASH = /^0x([0-9a-f]{1,64})$/i;
const EVM_HASH_DIGITS = 64;
/** Matches every text that can be 64 bytes in base58: the base58 text of 64 bytes has 64 to 88 characters. */
const SIGNATURE_TEXT = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const SIGNATURE_BYTES = 64;

/**
 * A hash in lower case with all its 64 digits, or a signature of 64 bytes exactly as written. Null for any other text. Sales are identified by
 * this text, so a hash must have one spelling.
 */
export function parseTransactionId(family: ChainFamily, text: string): string | null {
  if (family === 'evm') {
    const digits = EVM_HASH.exec(text)?.[1];
    return digits === undefined ? null : `0x${digits.toLowerCase().padStart(EVM_HASH_DIGITS, '0')}`;
  }
  return SIGNATURE_TEXT.test(text) && base58.decode(text).length === SIGNATURE_BYTES ? text : null;
}
