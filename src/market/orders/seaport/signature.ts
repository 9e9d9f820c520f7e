// Verifies signatures of Seaport orders offline. A signature has 65 bytes, or 64 bytes (EIP-2098). A bulk signature signs a tree of orders:
// the index and the Merkle proof of the order follow the 65 or 64 bytes. A contract may accept a signature that fails here (ERC-1271); only
// a call to the contract can verify it.

import { secp256k1 } from '@noble/curves/secp256k1';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { keccak256, keccak256OfText } from '../../../platform/core/keccak.ts';
import type { Protocol } from './order.ts';
import { hashWords, ORDER_TYPE_TEXT, orderDigest, REFERENCED_TYPES_TEXT } from './order.ts';

/** `mismatch`: a key of another account made the signature. `malformed`: no key can have made it. */
export type SignatureCheck = 'ok' | 'mismatch' | 'malformed';

/** The largest accepted signature. The signatures of wallet contracts are far shorter. */
export const SIGNATURE_BYTES_MAX = 4_096;
/** The height of the largest tree of orders that Seaport accepts. */
const BULK_HEIGHT_MAX = 24;
/** The length of the order's index in the tree. The index stands between the ECDSA signature and the proof. */
const INDEX_BYTES = 3;
const COMPACT_BYTES = 64;
const FULL_BYTES = 65;
/** The only version of Seaport that does not accept bulk signatures. */
const WITHOUT_BULK = '1.1';

/** True for 0x followed by 1 to `SIGNATURE_BYTES_MAX` bytes in hex. */
export function isSignatureText(text: string): text is Hex {
  return /^0x(?:[0-9a-f]{2})+$/i.test(text) && text.length <= 2 + 2 * SIGNATURE_BYTES_MAX;
}

export type OrderSignature = {
  protocol: Protocol;
  orderHash: Hex;
  signature: Hex;
};

/** Checks whether the offerer's own key made the signature. */
export function checkSignature(signed: OrderSignature, offerer: Address): SignatureCheck {
  const signer = recoverSigner(signed);
  return signer === null ? 'malformed' : signer === offerer ? 'ok' : 'mismatch';
}

/** Null when the signature is malformed. */
function recoverSigner({ protocol, orderHash, signature }: OrderSignature): Address | null {
  const parts = splitSignature(signature, protocol.version);
  if (!parts) return null;
  const structHash = parts.proof ? hashTree(orderHash, parts.proof) : orderHash;
  return recoverAccount(orderDigest(protocol, structHash), parts.ecdsa);
}

/**
 * Checks whether the account's own key signed the digest. The digest can be that of any message. A signature with another length than 64 or
 * 65 bytes is `malformed`.
 */
export function checkDigestSignature(digest: Hex, signature: Hex, account: Address): SignatureCheck {
  const signer = recoverAccount(digest, signature.slice(2));
  return signer === null ? 'malformed' : signer === account ? 'ok' : 'mismatch';
}

function recoverAccount(digest: Hex, ecdsa: string): Address | null {
  const signature = toFullSignature(ecdsa);
  if (signature === null) return null;
  const yParity = Number.parseInt(signature.slice(-2), 16) - 27;
  try {
    const point = secp256k1.Signature.fromCompact(signature.slice(2, -2))
      .addRecoveryBit(yParity)
      .recoverPublicKey(digest.slice(2));
    // Cuts off the byte 04, with which the encoding of an uncompressed point begins.
    const coordinates = point.toHex(false).slice(2);
    return `0x${keccak256(`0x${coordinates}`).slice(-ADDRESS_DIGITS)}` as Address;
  } catch {
    // No public key matches r and s: one of them is out of range, or no point of the curve has r as its x-coordinate.
    return null;
  }
}

const ADDRESS_DIGITS = 40;

/**
 * Returns the signature in lower case. If the ECDSA part has 65 bytes, a v of 0 or 1 becomes 27 or 28. Some signers write 0 and 1, but
 * Seaport accepts only 27 and 28.
 */
export function normalizeSignature(signature: Hex, version: string): Hex {
  const lower = signature.toLowerCase() as Hex;
  const parts = splitSignature(lower, version);
  if (!parts || parts.ecdsa.length !== 2 * FULL_BYTES) return lower;
  const v = V_AS_27_OR_28[parts.ecdsa.slice(-2)];
  return v === undefined ? lower : `0x${parts.ecdsa.slice(0, -2)}${v}${lower.slice(2 + parts.ecdsa.length)}`;
}

const V_AS_27_OR_28: Readonly<Record<string, string>> = { '00': '1b', '01': '1c', '1b': '1b', '1c': '1c' };

type Proof = { index: number; siblings: readonly string[] };
/** `ecdsa` is the 64 or 65 bytes of the signature in hex without 0x. `proof` is null for the signature of a single order. */
type Parts = { ecdsa: string; proof: Proof | null };

function splitSignature(signature: Hex, version: string): Parts | null {
  const digits = signature.slice(2);
  const bytes = digits.length / 2;
  if (bytes === COMPACT_BYTES || bytes === FULL_BYTES) return { ecdsa: digits, proof: null };
  const isCompact = (bytes - COMPACT_BYTES - INDEX_BYTES) % 32 === 0;
  const ecdsaBytes = isCompact ? COMPACT_BYTES : FULL_BYTES;
  const height = (bytes - ecdsaBytes - INDEX_BYTES) / 32;
  if (version === WITHOUT_BULK || !Number.isInteger(height) || height < 1 || height > BULK_HEIGHT_MAX) return null;
  const indexAt = 2 * ecdsaBytes;
  const proofAt = indexAt + 2 * INDEX_BYTES;
  const index = Number.parseInt(digits.slice(indexAt, proofAt), 16);
  // A tree of this height has 2 ** height orders. Seaport ignores the higher bits of the index. They must be 0 here, so that one proof
  // cannot be submitted with several indexes.
  if (index >= 2 ** height) return null;
  const siblings = Array.from({ length: height }, (_, level) => digits.slice(proofAt + 64 * level).slice(0, 64));
  return { ecdsa: digits.slice(0, indexAt), proof: { index, siblings } };
}

/**
 * Converts an ECDSA signature to 65 bytes with a v of 27 or 28. Null if it has another length than 64 or 65 bytes, or another v than 0, 1,
 * 27 and 28.
 */
function toFullSignature(ecdsa: string): Hex | null {
  if (ecdsa.length === 2 * FULL_BYTES) {
    const v = V_AS_27_OR_28[ecdsa.slice(-2).toLowerCase()];
    return v === undefined ? null : `0x${ecdsa.slice(0, -2)}${v}`;
  }
  if (ecdsa.length !== 2 * COMPACT_BYTES) return null;
  // EIP-2098: the highest bit of the second word is 0 for v = 27 and 1 for v = 28; the other bits are s.
  const s = BigInt(`0x${ecdsa.slice(64)}`);
  const v = s >> 255n === 0n ? '1b' : '1c';
  return `0x${ecdsa.slice(0, 64)}${(s & (2n ** 255n - 1n)).toString(16).padStart(64, '0')}${v}`;
}

/** The struct hash of a tree of orders, computed from one order and its Merkle proof. */
function hashTree(orderHash: Hex, { index, siblings }: Proof): Hex {
  let node = orderHash;
  for (const [level, sibling] of siblings.entries()) {
    const isRight = ((index >> level) & 1) === 1;
    node = isRight ? hashWords([`0x${sibling}`, node]) : hashWords([node, `0x${sibling}`]);
  }
  return hashWords([bulkTypeHash(siblings.length), node]);
}

const bulkTypeHashes = new Map<number, Hex>();

function bulkTypeHash(height: number): Hex {
  const known = bulkTypeHashes.get(height);
  if (known !== undefined) return known;
  const type = `BulkOrder(OrderComponents${'[2]'.repeat(height)} tree)${REFERENCED_TYPES_TEXT}${ORDER_TYPE_TEXT}`;
  const hash = keccak256OfText(type);
  bulkTypeHashes.set(height, hash);
  return hash;
}
