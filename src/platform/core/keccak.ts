// Keccak-256, the hash function of Ethereum. OpenSSL computes it about twenty times as fast as JavaScript.

import { hash } from 'node:crypto';
import type { Hex } from './evm.ts';

const ALGORITHM = 'keccak-256';

/** The hash of the bytes that `hex` encodes. */
export function keccak256(hex: Hex): Hex {
  return `0x${hash(ALGORITHM, Buffer.from(hex.slice(2), 'hex'))}`;
}

/** The hash of a text in UTF-8. */
export function keccak256OfText(text: string): Hex {
  return `0x${hash(ALGORITHM, text)}`;
}
