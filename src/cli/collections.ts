// `mercat collections`: lists the collections that the workers follow, adds collections and removes them.

import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { VENDORS } from '../sources/upstreams/registry.ts';
import type { Added, Purged } from '../service/workers/follow-operations.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { requireConfirmation } from './confirmation.ts';
import { callService, readService } from './connect.ts';
import { formatTable, printable } from './output.ts';

type Followed = { collectionId: string; name: string | null; state: string; progress: number | null };
type Options = { json?: true };

/** The options of `add` that give the name of the collection at each vendor. */
const VENDOR_NAMES = VENDORS.flatMap(({ collectionName }) => collectionName ?? []);

export const defineCollections: DefineCommand = (collections, io) => {
  collections.description(
    'The collections that the workers follow. On an EVM chain with an endpoint (RPC_URL_<CHAIN>) transfers, approvals and ' +
      "sales are read from the contract's first block on, and then as they happen. Listings and sales of a marketplace are " +
      'read under the name that the collection has at that marketplace.',
  );

  const add = collections
    .command('add')
    .description('Follow a collection, or change the names under which it is followed.')
    .argument('<chain>', 'the chain of the collection, for example ethereum')
    .argument('<address>', 'the contract of the collection; on Solana its collection mint')
    .option('--name <name>', 'the name of the collection; by default the name that its contract returns')
    .option(
      '--launched',
      'mark the collection as launched on this marketplace; lists of collections begin with the marked collections',
    )
    .option(
      '--no-launched',
      'remove this mark; a command with neither --launched nor --no-launched leaves the mark as it is',
    )
    .option(
      '--slug <slug>',
      'the slug of the collection in the API of this service; must not look like an address or a collection id',
    )
    .option(
      '--from-block <number>',
      'the first block to read; by default the block in which the contract was deployed',
      parseBlock,
    )
    .addOption(
      new Option(
        '--standard <standard>',
        'the standard of the tokens, if the chain does not show it; by default what the contract supports (ERC-165), or what its logs show',
      ).choices(['erc721', 'erc1155']),
    )
    .option('--dry-run', 'only print how many blocks, calls and minutes it takes to read the past of the collection')
    .option('--json', JSON_OPTION)
    .addHelpText(
      'after',
      `
Example:
  mercat collections add ethereum 0x5Af0D9827E0c53E4799BB226655A1de152A425a5 --opensea milady --dry-run`,
    )
    .action((chain, address, options) => addCollection({ chain, address, ...vendorNamesOf(add.opts()) }, options, io));
  for (const { option, placeholder, meaning } of VENDOR_NAMES) {
    add.option(`--${option} <${placeholder.toLowerCase()}>`, meaning);
  }

  collections
    .command('list')
    .description('List the collections that are followed.')
    .option('--json', JSON_OPTION)
    .action((options) => listCollections(options, io));

  collections
    .command('remove')
    .description(
      'Stop following a collection, and delete the log of its events. Its record, orders, listings, sales and tokens stay, unless --purge is given.',
    )
    .argument('<id>', 'the id of the collection, as mercat collections list prints it, or its slug')
    .option(
      '--purge',
      'delete everything that is stored about the collection, even if it is not followed: this cannot be taken back',
    )
    .option('--yes', 'with --purge: do not ask for a confirmation')
    .option('--json', JSON_OPTION)
    .action((id, options) => removeCollection(id, options, io));
};

type AddOptions = Options & {
  name?: string;
  slug?: string;
  launched?: boolean;
  fromBlock?: number;
  standard?: string;
  dryRun?: true;
};

function vendorNamesOf(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(VENDOR_NAMES.map(({ option }) => [option, options[option]]));
}

async function addCollection(collection: { chain: string; address: string }, options: AddOptions, io: CommandIo) {
  const { json, name, slug, launched, fromBlock, standard, dryRun = false } = options;
  const call = dryRun ? readService : callService;
  const added = (await call(io.signal, 'collections.add', {
    ...collection,
    name,
    slug,
    launched,
    fromBlock,
    standard,
    dryRun,
  })) as Added;
  io.stdout.write(json ? `${JSON.stringify(added)}\n` : describeAdded(added));
}

async function listCollections({ json }: Options, { stdout, signal }: CommandIo): Promise<void> {
  const followed = (await readService(signal, 'collections.list', {})) as Followed[];
  const rows = followed.map(({ collectionId, state, progress, name }) => [
    collectionId,
    state === 'catching up' && progress !== null ? `${state} (${progress} %)` : state,
    name,
  ]);
  if (json) stdout.write(`${JSON.stringify(followed)}\n`);
  else
    stdout.write(rows.length > 0 ? formatTable(['id', 'state', 'name'], rows, stdout) : 'no collection is followed\n');
}

async function removeCollection(
  id: string,
  { json, purge, yes }: Options & { purge?: true; yes?: true },
  io: CommandIo,
): Promise<void> {
  if (purge && !yes) await requireConfirmation(`delete everything that is stored about ${printable(id)}`, io);
  const removed = (await callService(io.signal, 'collections.remove', { id, purge })) as Removed;
  io.stdout.write(json ? `${JSON.stringify(removed)}\n` : describeRemoved(removed));
}

type Removed = Pick<Purged, 'collectionId'> & Partial<Pick<Purged, 'rows'>>;

function describeRemoved({ collectionId, rows }: Removed): string {
  if (!rows) return `${collectionId} is no longer followed\n`;
  const counts = Object.entries(rows).flatMap(([kind, count]) => (count > 0 ? [`${count} ${kind}`] : []));
  return `${collectionId} is deleted: ${counts.join(', ') || 'it had no rows'}\n`;
}

function parseBlock(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be the number of a block.');
}

function describeMetadata(metadata: Added['metadata']): string {
  if (metadata === null) return '';
  const { host, tokens, minutes } = metadata;
  if (host === null) return 'its metadata: the contract has no URI that can be read\n';
  const count = tokens === null ? 'an unknown number of' : tokens;
  const needs =
    minutes === null ? '' : `, at least ${minutes} minutes within METADATA_HOURLY_BUDGET and METADATA_HOST_BUDGET`;
  return `its metadata: ${count} tokens from ${printable(host)}${needs}\n`;
}

function describeAdded({ collectionId, name, standard, estimate, metadata, dryRun }: Added): string {
  const collection = `${printable(name)} (${collectionId}${standard ? `, ${standard}` : ''})`;
  const past = estimate
    ? `its past: ${estimate.blocks} blocks from ${estimate.fromBlock}, about ${estimate.calls} calls and ${estimate.minutes} minutes`
    : 'its chain has no endpoint here (RPC_URL_<CHAIN>): only marketplaces are read';
  return `${dryRun ? `would follow ${collection}` : `${collection} is followed`}\n${past}\n${describeMetadata(metadata)}`;
}
