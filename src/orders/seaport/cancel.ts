// The message that an offerer signs to cancel an order off-chain. The cancel binds this service only: until the order is
// cancelled on its chain too, anyone who has the signed order can fill it.

import type { Hex } from '../../core/evm.ts';
import { keccak256, keccak256OfText } from '../../core/keccak.ts';
import { hashWords } from './order.ts';

const DOMAIN_HASH = keccak256OfText('EIP712Domain(string name,string version,uint256 chainId)');
const NAME_HASH = keccak256OfText('Mercat');
const VERSION_HASH = keccak256OfText('1');
const CANCEL_HASH = keccak256OfText('CancelOrder(bytes32 orderHash)');

/** The EIP-712 digest that the offerer signs. */
export function cancelDigest(chainId: number, orderHash: Hex): Hex {
  const domain = hashWords([DOMAIN_HASH, NAME_HASH, VERSION_HASH, BigInt(chainId)]);
  return keccak256(`0x1901${domain.slice(2)}${hashWords([CANCEL_HASH, orderHash]).slice(2)}`);
}
