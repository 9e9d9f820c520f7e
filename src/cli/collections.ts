// `mercat collections`: what the workers follow.

import { parseArgs } from 'node:util';
import { OperatorError } from '../core/errors.ts';
import type { Added } from '../workers/collections.ts';
import type { Command } from './command.ts';
import { parseUsage } from './command.ts';
import { connectOperator } from './connect-operator.ts';
import { VENDORS } from '../upstreams/registry.ts';

/** What a collection is called at vendors. */
const NAME_OPTIONS = VENDORS.flatMap(({ collectionName }) => collectionName ?? []);
const HELP_WIDTH = 20;

const HELP = `Usage: mercat collections add CHAIN ADDRESS [options] [--json]
       mercat collections list [--json]
       mercat collections remove ID [--json]

What the workers follow. On an EVM chain that has an endpoint (RPC_URL_<CHAIN>) transfers, approvals and sales are read from
the contract's first block on, and then live; at marketplaces it is known by the names given here. ADDRESS is the contract,
or the collection mint on Solana. Adding a collection again changes the names.

  --name NAME         how it is called; by default as the contract calls itself
  --slug SLUG         its slug in this service's interface
  --from-block N      the first block to read; by default the one in which the contract was made
${NAME_OPTIONS.map(({ option, placeholder, meaning }) => `  ${`--${option} ${placeholder}`.padEnd(HELP_WIDTH)}${meaning}\n`).join('')}  --dry-run           only say what reading its past will take: blocks, calls, minutes
  --json              print the result as one JSON value
`;

const OPTIONS = {
  name: { type: 'string' },
  slug: { type: 'string' },
  'from-block': { type: 'string' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;
const VENDOR_OPTIONS: object = Object.fromEntries(NAME_OPTIONS.map(({ option }) => [option, { type: 'string' }]));

type Row = { collectionId: string; name: string | null; state: string; progress: number | null };

export const collectionsCommand: Command = {
  name: 'collections',
  summary: 'add, list and remove what the workers follow',
  help: HELP,
  run: async (args, { stdout }) => {
    const { values, positionals } = parseUsage(collectionsCommand, () =>
      parseArgs({
        args,
        allowPositionals: true,
        options: { ...OPTIONS, ...VENDOR_OPTIONS },
      }),
    );
    const [action, ...operands] = positionals;
    const print = (result: unknown, words: string) =>
      stdout.write(values.json ? `${JSON.stringify(result)}\n` : words) && 0;
    const { name, slug } = values;
    if (action === 'add' && operands.length === 2) {
      const [chain, address] = operands;
      const fromBlock = readBlock(values['from-block']);
      const input = { ...pickNames(values), chain, address, name, slug, fromBlock, dryRun: values['dry-run'] ?? false };
      const added = (await call('collections.add', input)) as Added;
      print(added, describeAdded(added));
      return 0;
    }
    if (action === 'list' && operands.length === 0) {
      const rows = (await call('collections.list', {})) as Row[];
      print(rows, rows.map(describeRow).join('') || 'nothing is followed yet\n');
      return 0;
    }
    if (action === 'remove' && operands.length === 1) {
      const removed = (await call('collections.remove', { id: operands[0] })) as Row;
      print(removed, `${removed.collectionId} is followed no more\n`);
      return 0;
    }
    throw new OperatorError(
      'say collections add CHAIN ADDRESS, collections list or collections remove ID; see mercat collections --help',
      { exitCode: 2 },
    );
  },
};

/** The values of the options that are a vendor's. */
function pickNames(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(NAME_OPTIONS.map(({ option }) => [option, values[option]]));
}

function readBlock(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new OperatorError('--from-block must be the number of a block', { exitCode: 2 });
}

function describeAdded({ collectionId, name, standard, estimate, dryRun }: Added): string {
  const what = `${name} (${collectionId}${standard ? `, ${standard}` : ''})`;
  const past = estimate
    ? `its past: ${estimate.blocks} blocks from ${estimate.fromBlock}, about ${estimate.calls} calls and ${estimate.minutes} minutes`
    : 'its chain has no endpoint here (RPC_URL_<CHAIN>): only marketplaces are read';
  return dryRun ? `would follow ${what}\n${past}\n` : `${what} is followed\n${past}\n`;
}

function describeRow({ collectionId, name, state, progress }: Row): string {
  const part = state === 'catching up' && progress !== null ? ` (${progress} %)` : '';
  return `${collectionId}  ${state}${part}  ${name ?? ''}\n`;
}

/** Asks the running server, else workers of this process that do nothing by themselves. */
async function call(operation: string, input: Record<string, unknown>): Promise<unknown> {
  const workers = await connectOperator();
  try {
    return await workers.call(operation, input);
  } finally {
    await workers.close();
  }
}
