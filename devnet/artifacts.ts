// Reads compiled contracts: the devnet's own contracts (contracts/, compiled by npm run generate), and Seaport from the package of
// OpenSea's library.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Abi, Hex } from 'viem';
import { OperatorError } from '../src/platform/core/errors.ts';

export type Artifact = { abi: Abi; bytecode: Hex };

const SEAPORT_PACKAGE = '@opensea/seaport-js';
const SEAPORT_ARTIFACTS = `${SEAPORT_PACKAGE}/src/artifacts/seaport/contracts`;

type OwnContract =
  | 'DevnetBlur'
  | 'DevnetCollection'
  | 'DevnetEditions'
  | 'DevnetLooksRare'
  | 'DevnetPool'
  | 'DevnetPoolFactory'
  | 'DevnetWallet'
  | 'DevnetWrapped';

/** `deployedBytecode` is the code after deployment, without the values that the constructor sets. */
export function readContract(name: OwnContract): Artifact & { deployedBytecode: Hex } {
  const file = new URL(`contracts/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Artifact & { deployedBytecode: Hex };
}

export function readSeaport(): Artifact {
  return readPackaged('Seaport.sol/Seaport.json');
}

export function readConduitController(): Artifact {
  return readPackaged('conduit/ConduitController.sol/LocalConduitController.json');
}

function readPackaged(path: string): Artifact {
  let file: string;
  try {
    file = fileURLToPath(import.meta.resolve(`${SEAPORT_ARTIFACTS}/${path}`));
  } catch (cause) {
    throw new OperatorError(`local chains need Seaport's contracts: npm install --no-save ${SEAPORT_PACKAGE}`, {
      cause,
    });
  }
  const { abi, bytecode } = JSON.parse(readFileSync(file, 'utf8')) as { abi: Abi; bytecode: string };
  return { abi, bytecode: bytecode.startsWith('0x') ? (bytecode as Hex) : `0x${bytecode}` };
}
