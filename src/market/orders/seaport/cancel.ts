// The message that an offerer signs to cancel an order off-chain. Only this service respects the cancel. Anyone who has the signed order
// can still fill it on its chain until it expires, or until the offerer also cancels it there.

import type { Hex } from '../../../platform/core/evm.ts';
import { keccak256, keccak256OfText } from '../../../platform/core/keccak.ts';
import { hashWords } from './order.ts';

const DOMAIN_TYPE_HASH = keccak256OfText('EIP712Domain(string name,string version,uint256 chainId)');
const NAME_HASH = keccak256OfText('Mercat');
const VERSION_HASH = keccak256OfText('1');
const CANCEL_TYPE_HASH = keccak256OfText('CancelOrder(bytes32 orderHash)');

/** The hash (EIP-712) that the offerer signs to cancel the order. */
export function cancelDigest(chainId: number, orderHash: Hex): Hex {
  const domainHash = hashWords([DOMAIN_TYPE_HASH, NAME_HASH, VERSION_HASH, BigInt(chainId)]);
  const cancelHash = hashWords([CANCEL_TYPE_HASH, orderHash]);
  return keccak256(`0x1901${domainHash.slice(2)}${cancelHash.slice(2)}`);
}
