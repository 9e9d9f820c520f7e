// Verifies signatures of Seaport orders offline: 65 bytes, 64 bytes (EIP-2098), and both followed by the Merkle proof of a bulk
// order. A signature that fails here may still be valid for a contract (ERC-1271), which only its chain can decide.

import { secp256k1 } from '@noble/curves/secp256k1';
import type { Address } from '../../core/address.ts';
import type { Hex } from '../../core/evm.ts';
import { keccak256, keccak256OfText } from '../../core/keccak.ts';
import type { Protocol } from './order.ts';
import { hashWords, ORDER_TYPE_TEXT, orderDigest, REFERENCED_TYPES_TEXT } from './order.ts';

export type SignatureCheck = 'ok' | 'mismatch' | 'malformed';

/** Far more than the signatures of wallet contracts have. */
export const SIGNATURE_BYTES_MAX = 4_096;
/** The height of the largest tree of orders that Seaport accepts. */
export const BULK_HEIGHT_MAX = 24;
/** Bytes of the order's index in the tree, between the signature and the proof. */
const INDEX_BYTES = 3;
const COMPACT_BYTES = 64;
const FULL_BYTES = 65;
/** The only version without bulk orders. */
const WITHOUT_BULK = '1.1';

/** True for 0x and an even number of hex digits, within the limit. */
export function isSignatureText(text: string): text is Hex {
  return /^0x(?:[0-9a-f]{2})+$/i.test(text) && text.length <= 2 + 2 * SIGNATURE_BYTES_MAX;
}

export type OrderSignature = {
  protocol: Protocol;
  orderHash: Hex;
  signature: Hex;
};

/** Whether the signature is that of the offerer's own key. */
export function checkSignature(signed: OrderSignature, offerer: Address): SignatureCheck {
  const signer = recoverSigner(signed);
  return signer === null ? 'malformed' : signer === offerer ? 'ok' : 'mismatch';
}

/** The account whose key made the signature; null when the signature is malformed. */
function recoverSigner({ protocol, orderHash, signature }: OrderSignature): Address | null {
  const parts = splitSignature(signature, protocol.version);
  if (!parts) return null;
  const structHash = parts.proof ? hashTree(orderHash, parts.proof) : orderHash;
  return recoverAccount(orderDigest(protocol, structHash), parts.ecdsa);
}

/** Whether a signature of 64 or 65 bytes of any digest is that of the account's own key. */
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
    // Without the prefix byte of an uncompressed point.
    const coordinates = point.toHex(false).slice(2);
    return `0x${keccak256(`0x${coordinates}`).slice(-ADDRESS_DIGITS)}` as Address;
  } catch {
    // 65 bytes that are not a point on the curve.
    return null;
  }
}

const ADDRESS_DIGITS = 40;

/**
 * The signature in lower case, with a v of 27 or 28: Seaport accepts no other v, while some signers write 0 and 1. A signature of
 * another form is not changed.
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
/** `ecdsa` without 0x. */
type Parts = { ecdsa: string; proof: Proof | null };

function splitSignature(signature: Hex, version: string): Parts | null {
  const digits = signature.slice(2);
  const bytes = digits.length / 2;
  if (bytes === COMPACT_BYTES || bytes === FULL_BYTES) return { ecdsa: digits, proof: null };
  const short = COMPACT_BYTES + INDEX_BYTES;
  const ecdsaBytes = (bytes - short) % 32 === 0 ? COMPACT_BYTES : FULL_BYTES;
  const height = (bytes - ecdsaBytes - INDEX_BYTES) / 32;
  if (version === WITHOUT_BULK || !Number.isInteger(height) || height < 1 || height > BULK_HEIGHT_MAX) return null;
  const indexAt = 2 * ecdsaBytes;
  const proofAt = indexAt + 2 * INDEX_BYTES;
  const index = Number.parseInt(digits.slice(indexAt, proofAt), 16);
  // Seaport ignores the bits above the height of the tree: with other bits there, one signature would have several texts.
  if (index >= 2 ** height) return null;
  const siblings = Array.from({ length: height }, (_, level) => digits.slice(proofAt + 64 * level).slice(0, 64));
  return { ecdsa: digits.slice(0, indexAt), proof: { index, siblings } };
}

/** The 65 bytes of a signature with v as 27 or 28; null when v has another value. */
function toFullSignature(ecdsa: string): Hex | null {
  if (ecdsa.length === 2 * FULL_BYTES) {
    const v = V_AS_27_OR_28[ecdsa.slice(-2).toLowerCase()];
    return v === undefined ? null : `0x${ecdsa.slice(0, -2)}${v}`;
  }
  if (ecdsa.length !== 2 * COMPACT_BYTES) return null;
  // EIP-2098: the highest bit of s holds v.
  const s = BigInt(`0x${ecdsa.slice(64)}`);
  const v = s >> 255n === 0n ? '1b' : '1c';
  return `0x${ecdsa.slice(0, 64)}${(s & (2n ** 255n - 1n)).toString(16).padStart(64, '0')}${v}`;
}

/** The struct hash of the tree of orders that contains the order. */
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
