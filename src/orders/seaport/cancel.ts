// The offerer's signed word that an order shall not be listed any more. It binds this service alone: the chain knows nothing of
// it, and whoever has kept the order can fill it until it is cancelled there too.

import { keccak256 } from 'viem';
import { hashText, hashWords } from './order.ts';
import type { Hex } from '../../core/evm.ts';

const DOMAIN_HASH = hashText('EIP712Domain(string name,string version,uint256 chainId)');
const NAME_HASH = hashText('Mercat');
const VERSION_HASH = hashText('1');
const CANCEL_HASH = hashText('CancelOrder(bytes32 orderHash)');

/** What the offerer signs (EIP-712). */
export function cancelDigest(chainId: number, orderHash: Hex): Hex {
  const domain = hashWords([DOMAIN_HASH, NAME_HASH, VERSION_HASH, BigInt(chainId)]);
  return keccak256(`0x1901${domain.slice(2)}${hashWords([CANCEL_HASH, orderHash]).slice(2)}`);
}
