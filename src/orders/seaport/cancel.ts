// The offerer's signed word that an order shall not be listed any more. It binds this service alone: the chain knows nothing of
// it, and whoever has kept the order can fill it until it is cancelled there too.

import type { Hex } from '../../core/evm.ts';
import { keccak256, keccak256OfText } from '../../core/keccak.ts';
import { hashWords } from './order.ts';

const DOMAIN_HASH = keccak256OfText('EIP712Domain(string name,string version,uint256 chainId)');
const NAME_HASH = keccak256OfText('Mercat');
const VERSION_HASH = keccak256OfText('1');
const CANCEL_HASH = keccak256OfText('CancelOrder(bytes32 orderHash)');

/** What the offerer signs (EIP-712). */
export function cancelDigest(chainId: number, orderHash: Hex): Hex {
  const domain = hashWords([DOMAIN_HASH, NAME_HASH, VERSION_HASH, BigInt(chainId)]);
  return keccak256(`0x1901${domain.slice(2)}${hashWords([CANCEL_HASH, orderHash]).slice(2)}`);
}
