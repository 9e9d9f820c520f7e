// Signatures of Seaport orders: 65 bytes, 64 bytes (EIP-2098), and either with the Merkle proof of a bulk order appended. A
// signature of any other form, or that recovers to somebody else, may still be a contract's (ERC-1271): only its chain can tell.

import { secp256k1 } from '@noble/curves/secp256k1';
import type { Address } from '../../core/address.ts';
import type { Hex } from '../../core/evm.ts';
import { keccak256, keccak256OfText } from '../../core/keccak.ts';
import type { Protocol } from './order.ts';
import { hashWords, ORDER_TYPES, orderDigest, REFERRED_TYPES } from './order.ts';

export type SignatureCheck = 'ok' | 'mismatch' | 'malformed';

/** More bytes than any wallet contract needs. */
export const SIGNATURE_BYTES_MAX = 4_096;
/** The most levels of a tree of orders that the protocol takes. */
export const BULK_HEIGHT_MAX = 24;
/** Bytes of the leaf's place in the tree, between the signature and the proof. */
const KEY_BYTES = 3;
const COMPACT_BYTES = 64;
const FULL_BYTES = 65;
/** Bulk orders came after this version. */
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

/** The account whose key made the signature; null when it is none. */
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
    // Without the byte that says that both coordinates follow.
    const coordinates = point.toHex(false).slice(2);
    return `0x${keccak256(`0x${coordinates}`).slice(-ADDRESS_DIGITS)}` as Address;
  } catch {
    // 65 bytes that are no point of the curve, and so no signature.
    return null;
  }
}

const ADDRESS_DIGITS = 40;

/**
 * The signature as the protocol takes it: it knows v as 27 and 28 only, while some signers write 0 and 1. A signature of any
 * other form is left as it is.
 */
export function normalizeSignature(signature: Hex, version: string): Hex {
  const lower = signature.toLowerCase() as Hex;
  const parts = splitSignature(lower, version);
  if (!parts || parts.ecdsa.length !== 2 * FULL_BYTES) return lower;
  const v = V_AS_27_OR_28[parts.ecdsa.slice(-2)];
  return v === undefined ? lower : `0x${parts.ecdsa.slice(0, -2)}${v}${lower.slice(2 + parts.ecdsa.length)}`;
}

const V_AS_27_OR_28: Readonly<Record<string, string>> = { '00': '1b', '01': '1c', '1b': '1b', '1c': '1c' };

type Proof = { key: number; siblings: readonly string[] };
/** `ecdsa` without 0x. */
type Parts = { ecdsa: string; proof: Proof | null };

function splitSignature(signature: Hex, version: string): Parts | null {
  const digits = signature.slice(2);
  const bytes = digits.length / 2;
  if (bytes === COMPACT_BYTES || bytes === FULL_BYTES) return { ecdsa: digits, proof: null };
  const short = COMPACT_BYTES + KEY_BYTES;
  const ecdsaBytes = (bytes - short) % 32 === 0 ? COMPACT_BYTES : FULL_BYTES;
  const height = (bytes - ecdsaBytes - KEY_BYTES) / 32;
  if (version === WITHOUT_BULK || !Number.isInteger(height) || height < 1 || height > BULK_HEIGHT_MAX) return null;
  const keyAt = 2 * ecdsaBytes;
  const proofAt = keyAt + 2 * KEY_BYTES;
  const key = Number.parseInt(digits.slice(keyAt, proofAt), 16);
  // The protocol overlooks the bits above the tree. Whoever sets them makes a second text of one signature.
  if (key >= 2 ** height) return null;
  const siblings = Array.from({ length: height }, (_, level) => digits.slice(proofAt + 64 * level).slice(0, 64));
  return { ecdsa: digits.slice(0, keyAt), proof: { key, siblings } };
}

/** 65 bytes with v as 27 or 28; null when v is something else. */
function toFullSignature(ecdsa: string): Hex | null {
  if (ecdsa.length === 2 * FULL_BYTES) {
    const v = V_AS_27_OR_28[ecdsa.slice(-2).toLowerCase()];
    return v === undefined ? null : `0x${ecdsa.slice(0, -2)}${v}`;
  }
  if (ecdsa.length !== 2 * COMPACT_BYTES) return null;
  // EIP-2098: the highest bit of s says which of the two points is meant.
  const s = BigInt(`0x${ecdsa.slice(64)}`);
  const v = s >> 255n === 0n ? '1b' : '1c';
  return `0x${ecdsa.slice(0, 64)}${(s & (2n ** 255n - 1n)).toString(16).padStart(64, '0')}${v}`;
}

/** The struct hash of the tree that the order is a leaf of. */
function hashTree(orderHash: Hex, { key, siblings }: Proof): Hex {
  let node = orderHash;
  for (const [level, sibling] of siblings.entries()) {
    const isRight = ((key >> level) & 1) === 1;
    node = isRight ? hashWords([`0x${sibling}`, node]) : hashWords([node, `0x${sibling}`]);
  }
  return hashWords([bulkTypeHash(siblings.length), node]);
}

const bulkTypeHashes = new Map<number, Hex>();

function bulkTypeHash(height: number): Hex {
  const known = bulkTypeHashes.get(height);
  if (known !== undefined) return known;
  const type = `BulkOrder(OrderComponents${'[2]'.repeat(height)} tree)${REFERRED_TYPES}${ORDER_TYPES}`;
  const hash = keccak256OfText(type);
  bulkTypeHashes.set(height, hash);
  return hash;
}
