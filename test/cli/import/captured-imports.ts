// Runs `mercat import` with an intake that keeps the bytes that it receives. No database is used.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createImport } from '../../../src/cli/import/import.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { ImportFailure } from '../../../src/intake/import.ts';
import { ImportCounter } from '../../../src/intake/import-summary.ts';
import { NOW } from '../../support/service/intake.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { disposable, runCommand } from '../run-command.ts';

/** Makes a directory. Returns it, a function that writes a file to it, and a function that runs the command. */
export function createCapturedImports() {
  const dir = temporaryDirectory();
  let received = '';
  const intake = disposable({
    import: async (source) => {
      received = '';
      try {
        for await (const chunk of source) received += Buffer.from(chunk).toString('latin1');
      } catch (error) {
        throw new ImportFailure(new ImportCounter().summary(), error);
      }
      return new ImportCounter().summary();
    },
  });
  const define = createImport({
    connect: () => Promise.resolve(intake),
    chains: () => createChains(),
    clock: () => NOW,
  });
  const file = (name: string, content: string | Uint8Array) => {
    const target = path.join(dir, name);
    writeFileSync(target, content);
    return target;
  };
  const run = async (args: string[], stdin = '') => {
    const result = await runCommand(define, ['import', ...args], { stdin });
    return {
      ...result,
      received: Buffer.from(received, 'latin1').toString(),
      stderr: result.stderr.replaceAll(`${dir}/`, ''),
    };
  };
  return { dir, file, run };
}
