// The ids of transactions in canonical form: hashes on EVM chains, signatures on Solana.

import { base58 } from '@scure/base';
import type { ChainFamily } from './address.ts';

/** Some vendors drop the leading zeros of a hash, so a hash may have fewer than 64 digits. */
const EVM_HASH = /^0x[0-9a-f]{1,64}$/i;
/** Text that may be 64 bytes in base58, which have 64 to 88 characters. */
const SIGNATURE_TEXT = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const SIGNATURE_BYTES = 64;

/** A hash in lower case, or a signature of 64 bytes exactly as written. Null for any other text. */
export function parseTransactionId(family: ChainFamily, text: string): string | null {
  if (family === 'evm') return EVM_HASH.test(text) ? text.toLowerCase() : null;
  return SIGNATURE_TEXT.test(text) && base58.decode(text).length === SIGNATURE_BYTES ? text : null;
}
