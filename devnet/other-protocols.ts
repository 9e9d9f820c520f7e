// Installs contracts with the events of further settlement protocols on a local chain, at the addresses of these protocols on Ethereum.

import { readContract } from './artifacts.ts';
import type { LocalChain } from './chain.ts';
import type { Contract } from './protocol.ts';

export type OtherProtocols = { looksRare: Contract; blur: Contract };

const LOOKSRARE = '0x0000000000e655fae4d56241588680f86e3b2377';
const BLUR = '0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5';

export async function installOtherProtocols(chain: LocalChain): Promise<OtherProtocols> {
  const [looksRare, blur] = [readContract('DevnetLooksRare'), readContract('DevnetBlur')];
  await chain.rpc.call('anvil_setCode', LOOKSRARE, looksRare.deployedBytecode);
  await chain.rpc.call('anvil_setCode', BLUR, blur.deployedBytecode);
  return { looksRare: { address: LOOKSRARE, abi: looksRare.abi }, blur: { address: BLUR, abi: blur.abi } };
}
