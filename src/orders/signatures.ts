// Verifies who signed an order, and for which deployment of Seaport. A signature by an account's own key is verified offline.
// Whether a contract accepts a signature (ERC-1271) is read from its chain.

import type { Address } from '../core/address.ts';
import type { Hex } from '../core/evm.ts';
import { OrderRejected } from './rejection.ts';
import type { Protocol } from './seaport/order.ts';
import { orderDigest } from './seaport/order.ts';
import type { SignatureCheck } from './seaport/signature.ts';
import { checkDigestSignature, checkSignature } from './seaport/signature.ts';

/** The reads of a chain that check an order. Each call rejects when no endpoint of the chain responds. */
export type ChainChecks = {
  /** ERC-1271. False when the account is not a contract. */
  isValidSignature(account: Address, digest: Hex, signature: Hex, at: 'latest'): Promise<boolean>;
  /** Null when the deployment does not return a counter. */
  getCounter(protocol: Address, offerer: Address, at: 'latest'): Promise<bigint | null>;
  getOrderStatus(
    protocol: Address,
    orderHash: Hex,
    at: 'latest',
  ): Promise<{ cancelled: boolean; totalFilled: bigint; totalSize: bigint } | null>;
};

/** A signature that is still to be verified. */
export type UnverifiedSignature = { offerer: Address; orderHash: Hex; signature: Hex };

/** `closest` is the best result over all protocols when the offerer's own key signed for none of them. */
export type SigningProtocol = { protocol: Protocol } | { protocol: null; closest: Exclude<SignatureCheck, 'ok'> };

/** The first of the protocols that the offerer's own key signed for. */
export function findSigningProtocol(
  { offerer, orderHash, signature }: UnverifiedSignature,
  protocols: readonly Protocol[],
): SigningProtocol {
  let closest: 'mismatch' | 'malformed' = 'malformed';
  for (const protocol of protocols) {
    const check = checkSignature({ protocol, orderHash, signature }, offerer);
    if (check === 'ok') return { protocol };
    if (check === 'mismatch') closest = check;
  }
  return { protocol: null, closest };
}

/**
 * The first of the protocols for which the offerer, as a contract, accepts the signature. Throws OrderRejected when there is
 * none. As in Seaport, the contract receives the digest of the single order and the complete signature, also when the signature
 * has the form of a bulk order's.
 */
export async function requireContractSignature(
  { offerer, orderHash, signature }: UnverifiedSignature,
  { protocols, closest, chain }: { protocols: readonly Protocol[]; closest: SignatureCheck; chain: ChainChecks | null },
): Promise<Protocol> {
  for (const protocol of chain ? protocols : []) {
    const digest = orderDigest(protocol, orderHash);
    if (await isContractSignature(chain, { account: offerer, digest, signature })) return protocol;
  }
  throw toSignatureRejection(chain, closest);
}

/** Throws OrderRejected unless the account signed the digest, with its key or as a contract. */
export async function requireSignature(
  chain: ChainChecks | null,
  signed: { account: Address; digest: Hex; signature: Hex },
): Promise<void> {
  const check = checkDigestSignature(signed.digest, signed.signature, signed.account);
  if (check === 'ok' || (await isContractSignature(chain, signed))) return;
  throw toSignatureRejection(chain, check);
}

async function isContractSignature(
  chain: ChainChecks | null,
  { account, digest, signature }: { account: Address; digest: Hex; signature: Hex },
): Promise<boolean> {
  return chain !== null && (await readFromChain(() => chain.isValidSignature(account, digest, signature, 'latest')));
}

/** A signature that no key can have made may be a contract's, which cannot be verified without an endpoint of its chain. */
function toSignatureRejection(chain: ChainChecks | null, closest: SignatureCheck): OrderRejected {
  return chain === null && closest === 'malformed'
    ? new OrderRejected(
        'signature_unverifiable',
        'only a contract can have made this signature, and the service has no endpoint of the chain to verify it',
        { path: 'signature' },
      )
    : new OrderRejected('signature_invalid', 'this is not a signature by the offerer for this order', {
        path: 'signature',
      });
}

/** The result of a read of the chain. Throws OrderRejected when the chain cannot be read. The client may try again. */
export async function readFromChain<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new OrderRejected('chain_unavailable', 'the chain cannot be read at the moment; try again in a few seconds', {
      cause,
    });
  }
}
