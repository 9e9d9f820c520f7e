// Compiles the contracts of the local chains from their sources, with the Solidity compiler that the lockfile pins. `npm run
// generate` writes the artifacts. test/devnet/contracts.test.ts fails if a committed artifact is out of date.

import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const FOLDER = 'devnet/contracts';
/** The EVM version that the bytecode is compiled for. The local chains support it. */
const EVM_VERSION = 'cancun';
const OPTIMIZER_RUNS = 200;

type Compiler = { compile(input: string, callbacks: { import: (path: string) => { contents: string } }): string };
type Output = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, Contract>>;
};
type Contract = { abi: object[]; evm: Record<'bytecode' | 'deployedBytecode', { object: string }> };

/**
 * Compiles all contracts. Returns pairs of a path and the artifact's JSON text. The path is relative to the root of the repository. A file
 * whose name does not begin with `Devnet` has no artifact: the contracts import it.
 */
export function compileDevnetContracts(): [file: string, artifact: string][] {
  const require = createRequire(import.meta.url);
  const folder = fileURLToPath(new URL(`../../../${FOLDER}/`, import.meta.url));
  const names = readdirSync(folder).filter((name) => name.endsWith('.sol'));
  const sources = names.map((name) => [name, { content: readFileSync(folder + name, 'utf8') }] as const);
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(sources),
    settings: {
      evmVersion: EVM_VERSION,
      optimizer: { enabled: true, runs: OPTIMIZER_RUNS },
      metadata: { bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  };
  const compiler = require('solc') as Compiler;
  const readImport = (path: string) => ({ contents: readFileSync(require.resolve(path), 'utf8') });
  const output = JSON.parse(compiler.compile(JSON.stringify(input), { import: readImport })) as Output;
  const failed = output.errors?.find(({ severity }) => severity === 'error');
  if (failed) throw new Error(failed.formattedMessage);
  return names
    .filter((file) => file.startsWith('Devnet'))
    .map((file) => {
      const name = file.replace('.sol', '');
      const contract = output.contracts[file]?.[name];
      if (!contract) throw new Error(`${file} has no contract ${name}`);
      const { abi, evm } = contract;
      const artifact = {
        contract: name,
        bytecode: `0x${evm.bytecode.object}`,
        deployedBytecode: `0x${evm.deployedBytecode.object}`,
        abi,
      };
      return [`${FOLDER}/${name}.json`, `${JSON.stringify(artifact, null, 1)}\n`];
    });
}
