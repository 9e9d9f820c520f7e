// Who signed an order, and under which deployment of Seaport: an account's own key offline, a contract (ERC-1271) by asking its
// chain. The chain is a port: intake knows what it asks, not how it is read.

import type { Address } from '../core/address.ts';
import type { Protocol } from './seaport/order.ts';
import { orderDigest } from './seaport/order.ts';
import type { SignatureCheck } from './seaport/signature.ts';
import { checkDigestSignature, checkSignature } from './seaport/signature.ts';
import { OrderRejected } from './rejection.ts';
import type { Hex } from '../core/evm.ts';

/** What is asked of a chain while an order is taken in; each throws when the chain is out of reach. */
export type ChainChecks = {
  /** ERC-1271. False where the account is no contract. */
  isValidSignature(account: Address, digest: Hex, signature: Hex, at: 'latest'): Promise<boolean>;
  /** null: the protocol does not say. */
  getCounter(protocol: Address, offerer: Address, at: 'latest'): Promise<bigint | null>;
  getOrderStatus(
    protocol: Address,
    orderHash: Hex,
    at: 'latest',
  ): Promise<{ cancelled: boolean; totalFilled: bigint; totalSize: bigint } | null>;
};

export type Claim = { offerer: Address; orderHash: Hex; signature: Hex };

/** The first of the protocols under which the offerer's own key made the signature, or how near it came. */
export function findSigningProtocol(
  { offerer, orderHash, signature }: Claim,
  protocols: readonly Protocol[],
): { protocol: Protocol } | { protocol: null; nearest: Exclude<SignatureCheck, 'ok'> } {
  let nearest: 'mismatch' | 'malformed' = 'malformed';
  for (const protocol of protocols) {
    const check = checkSignature({ protocol, orderHash, signature }, offerer);
    if (check === 'ok') return { protocol };
    if (check === 'mismatch') nearest = check;
  }
  return { protocol: null, nearest };
}

/**
 * The first of the protocols under which the offerer, as a contract, says that the signature is its own. The protocol hands it
 * the digest of the order alone and the signature whole, even where it would read a bulk order's proof in it.
 */
export async function requireContractSignature(
  { offerer, orderHash, signature }: Claim,
  { protocols, nearest, chain }: { protocols: readonly Protocol[]; nearest: SignatureCheck; chain: ChainChecks | null },
): Promise<Protocol> {
  for (const protocol of chain ? protocols : []) {
    if (await askContract(chain, offerer, orderDigest(protocol, orderHash), signature)) return protocol;
  }
  throw refuseSignature(chain, nearest);
}

/** Refuses unless the account signed the digest, by its key or as a contract. */
export async function requireSignature(
  chain: ChainChecks | null,
  claim: { account: Address; digest: Hex; signature: Hex },
): Promise<void> {
  const { account, digest, signature } = claim;
  const check = checkDigestSignature(digest, signature, account);
  if (check === 'ok' || (await askContract(chain, account, digest, signature))) return;
  throw refuseSignature(chain, check);
}

async function askContract(chain: ChainChecks | null, account: Address, digest: Hex, signature: Hex): Promise<boolean> {
  return chain !== null && (await ask(() => chain.isValidSignature(account, digest, signature, 'latest')));
}

/** A signature that is of no key's form can only be a contract's: without its chain nobody knows. */
function refuseSignature(chain: ChainChecks | null, nearest: SignatureCheck): OrderRejected {
  return chain === null && nearest === 'malformed'
    ? new OrderRejected(
        'signature_unverifiable',
        'only the chain can tell whether this is a contract’s signature, and it is not read here',
        { path: 'signature' },
      )
    : new OrderRejected('signature_invalid', 'the signature is not the offerer’s for this order', {
        path: 'signature',
      });
}

/** Asks the chain; that it does not answer is a refusal, to be tried again. */
export async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (cause) {
    throw new OrderRejected('chain_unavailable', 'the chain cannot be asked at the moment, try again soon', { cause });
  }
}
