// Runs `mercat import` of recorded responses on a test database and returns its output.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ImportEnvironment } from '../../../src/cli/import/import.ts';
import { createImport } from '../../../src/cli/import/import.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { LocalIntake } from '../../../src/intake/connection.ts';
import { disposable, runCommand } from '../run-command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { NOW, toContext } from '../../support/service/intake.ts';
import { LANTERNS, LANTERNS_SYMBOL } from '../../support/replay/magic-eden.ts';

/** The time at which responses were recorded, for formats whose responses contain no time. */
export const AT = '2026-05-30T12:00:00.000Z';
export const CONTRACT = `0x${'c1'.repeat(20)}`;
/** The environment of the command, without the connection. */
export const world = { chains: () => createChains(), clock: () => NOW };

export const set = (fields: Record<string, string>) =>
  Object.entries(fields).flatMap(([field, value]) => ['--set', `${field}=${value}`]);
export const lanterns = set({ contractAddress: LANTERNS, symbol: LANTERNS_SYMBOL });
export const atLanterns = [...lanterns, ...set({ at: AT })];
export const range = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
export const lines = (responses: readonly unknown[]) =>
  responses.map((response) => `${JSON.stringify(response)}\n`).join('');
export const envelope = (result: unknown) => ({ jsonrpc: '2.0', id: 'x', result });

type Summary = {
  read: number;
  inserted: number;
  updated: number;
  unchanged: number;
  refused: number;
  answers: { pages: number; rows: number; leftOut: Record<string, number> };
  error?: string;
};

export type Options = { args?: string[]; connect?: ImportEnvironment['connect'] };

/** Functions that import into one database. They import in this process unless a test passes another `connect`. */
export function createResponseImports(db: Database) {
  const dir = temporaryDirectory();
  const local = () => Promise.resolve(disposable(new LocalIntake(toContext(db))));
  const run = async (format: string, content: string | Uint8Array, options: Options = {}) => {
    const { args = [], connect = local } = options;
    const file = path.join(dir, 'responses.json');
    writeFileSync(file, content);
    const define = createImport({ connect, ...world });
    const { code, stdout, stderr } = await runCommand(define, ['import', file, '--format', format, ...args]);
    return { code, stdout, stderr: stderr.replaceAll(`${file}:`, 'file:') };
  };
  const load = async (...parameters: Parameters<typeof run>) => {
    const [format, content, { args = [], ...options } = {}] = parameters;
    const { code, stdout, stderr } = await run(format, content, { args: [...args, '--json'], ...options });
    return { code, stderr, summary: JSON.parse(stdout) as Summary };
  };
  return { run, load };
}
