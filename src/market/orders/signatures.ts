// Verifies who signed an order, and for which deployment of Seaport. A signature by an account's own key is verified offline. A signature
// for a contract (ERC-1271) is verified by a call to the contract on its chain.

import type { Address } from '../../platform/core/address.ts';
import type { Hex } from '../../platform/core/evm.ts';
import type { Funds, Spender } from './queries/funds.ts';
import { OrderRejected } from './rejection.ts';
import type { Protocol } from './seaport/order.ts';
import { orderDigest } from './seaport/order.ts';
import type { SignatureCheck } from './seaport/signature.ts';
import { checkDigestSignature, checkSignature } from './seaport/signature.ts';

type AtBlock = number | 'latest';

/** The calls to a chain that check an order. `funds`: the balance of an account in an ERC-20 currency, and how much of it the operator may spend. Each promise rejects when no endpoint of the chain responds, or when its endpoints disagree. */
export type ChainChecks = {
  /** Whether the account is a contract that accepts the signature (ERC-1271). False when the account has no code, or the call reverts. */
  isValidSignature(account: Address, digest: Hex, signature: Hex, at: AtBlock): Promise<boolean>;
  /** Null when the call reverts, or when it does not return a counter. */
  getCounter(protocol: Address, offerer: Address, at: AtBlock): Promise<bigint | null>;
  /** Null when the call reverts, or when it does not return a status. */
  getOrderStatus(
    protocol: Address,
    orderHash: Hex,
    at: AtBlock,
  ): Promise<{ cancelled: boolean; totalFilled: bigint; totalSize: bigint } | null>;
  /** An element is null when a call reverts, or does not return a number. */
  funds(currency: Address, keys: readonly Spender[], at: AtBlock): Promise<(Funds | null)[]>;
};

export type UnverifiedSignature = { offerer: Address; orderHash: Hex; signature: Hex };

/**
 * The deployment for which the offerer's own key signed. If there is no such deployment, `closest` says why. `mismatch`: for at least one
 * deployment, another account's key made the signature. `malformed`: no key can have made it.
 */
export type SigningProtocol = { protocol: Protocol } | { protocol: null; closest: Exclude<SignatureCheck, 'ok'> };

/** Finds the first of the protocols for which the offerer's own key signed. */
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
 * Calls the offerer's contract for one protocol after the other. Returns the first protocol for which the contract accepts the signature.
 * Throws OrderRejected when there is none. As in Seaport, the contract receives the EIP-712 digest of the single order and the complete
 * signature. This also holds for a signature with the length of a bulk signature.
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

/** Throws OrderRejected unless the account's own key signed the EIP-712 digest, or the account is a contract that accepts the signature. */
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

/**
 * A signature that no key can have made may be valid for a contract. Without an endpoint of the chain it cannot be verified, so it is
 * rejected as `signature_unverifiable` and not as `signature_invalid`.
 */
function toSignatureRejection(chain: ChainChecks | null, closest: SignatureCheck): OrderRejected {
  return chain === null && closest === 'malformed'
    ? new OrderRejected(
        'signature_unverifiable',
        'only a contract can have made this signature, and the service has no endpoint of the chain to verify it',
        { path: 'signature' },
      )
    : new OrderRejected(
        'signature_invalid',
        `this is not a signature by the offerer for this order${chain === null ? WITHOUT_CHAIN : ''}`,
        { path: 'signature' },
      );
}

/** The offerer may be a contract (ERC-1271) that accepts a signature by its owner's key. Without an endpoint of the chain, the service cannot tell such a signature from a wrong one. */
const WITHOUT_CHAIN = '; if the offerer is a contract, the service needs an endpoint of the chain to verify it';

/** Throws OrderRejected with `chain_unavailable` when the chain cannot be read; the client may then retry. */
export async function readFromChain<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new OrderRejected('chain_unavailable', 'the chain cannot be read at the moment; try again in a few seconds', {
      cause,
    });
  }
}
