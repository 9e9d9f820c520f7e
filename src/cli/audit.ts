// `mercat audit`: compares stored orders and tokens with their chains. With --replay, it compares them with a replay of the stored chain
// events, and compares the maintained figures of collections with a new count. With --fillable, audit-fillable.ts does the work.

import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { ChainDigest } from '../sources/chains/audit/digest.ts';
import type { AuditReport, Difference } from '../sources/chains/audit/report.ts';
import { OperatorError } from '../platform/core/errors.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { callService, readService } from './connect.ts';
import { formatTable, printable } from './output.ts';

export const defineAudit: DefineCommand = (audit, io) => {
  audit
    .description(
      'Compare a random sample of the signed orders in the order book, and of the tokens of followed collections, with their ' +
        'chains, and print the differences. Each chain is queried (getOrderStatus, getCounter, ownerOf, balanceOf, ' +
        'isApprovedForAll, getApproved) at the last block that the service has read. A difference counts if it still exists ' +
        'at a newer block. The blocks whose stored events make a token differ are read again, and corrected. Orders and tokens that cannot be read from the chain are counted separately.\n\nWith --replay no ' +
        'chain is queried. The stored log of chain events is applied to an empty database by the code that follows the ' +
        'chains, and everything that is derived from the log is compared with the stored data. Then the maintained figures of ' +
        'all collections are counted again.\n\nWith --fillable the listings and bids of a ' +
        'random sample of the followed collections are read, and the chain is asked which orders it would fill ' +
        '(eth_call of a fulfilment). Served orders that cannot be filled, and orders that can be filled and are not served, ' +
        'are printed. With --fillable, --sample is the number of collections of each chain (default: 20).',
    )
    .option('--chain <chain>', 'only this chain')
    .option(
      '--sample <number>',
      'how many orders, and how many tokens, of each chain (default: 200; 0: all); with --fillable, how many collections',
      parseSample,
    )
    .option('--seed <seed>', 'the seed of an earlier audit, to compare the same orders and tokens')
    .option('--replay', 'compare with a replay of the stored log and with a count of the figures')
    .option('--fillable', 'compare the listings that the service serves with fulfilments on the chain')
    .option('--url <url>', 'with --fillable: the service to read (default: the one at HOST and PORT)')
    .option(
      '--endpoint <url>',
      'with --fillable and --chain: the endpoint to query (default: the first of RPC_URL_<CHAIN>)',
    )
    .option('--json', JSON_OPTION)
    .addHelpText('after', '\nExit code 1: an order, a token or a listing differs, or could not be read.')
    .action((options) => runAudit(options, io));
};

type Options = {
  chain?: string;
  sample?: number;
  seed?: string;
  replay?: true;
  fillable?: true;
  url?: string;
  endpoint?: string;
  json?: true;
};

async function runAudit(options: Options, io: CommandIo): Promise<void> {
  const { chain, sample, seed, replay, fillable, url, endpoint, json } = options;
  if (fillable) {
    if (replay) throw new OperatorError('use --fillable without --replay', { exitCode: 2 });
    const { runFillableAudit } = await import('./audit-fillable.ts');
    return runFillableAudit(options, io);
  }
  if (url !== undefined || endpoint !== undefined)
    throw new OperatorError('--url and --endpoint need --fillable', { exitCode: 2 });
  if (replay && (seed !== undefined || sample !== undefined)) {
    throw new OperatorError('--replay compares everything: use it without --sample and --seed', { exitCode: 2 });
  }
  const report = (await (replay
    ? readService(io.signal, 'audit.replay', { chain })
    : callService(io.signal, 'audit', { chain, sample, seed }))) as AuditReport;
  io.stdout.write(json ? `${JSON.stringify(report)}\n` : describeReport(report, io.stdout));
  if (report.drift > 0 || report.unreadable > 0) io.exitCode = 1;
}

function parseSample(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number, 0 for all.');
}

const COLUMNS = ['chain', 'block', 'orders', 'tokens', 'unreadable', 'drift'] as const;
const REPLAY_COLUMNS = ['chain', 'block', 'orders', 'tokens', 'collections', 'drift'] as const;

function describeReport(report: AuditReport, stdout: CommandIo['stdout']): string {
  const { drift, orders, tokens, collections, unreadable, rereads, chains, differences, seed } = report;
  const unlisted = drift - differences.length;
  // A replay has no seed. It reads no chain, so nothing is unreadable.
  const columns = seed === null ? REPLAY_COLUMNS : COLUMNS;
  const rows = chains.map((row) => columns.map((column) => row[column]));
  const compared =
    seed === null
      ? `${orders} orders, ${tokens} tokens and ${collections} collections`
      : `${orders} orders and ${tokens} tokens`;
  const lines = [
    '',
    ...differences.flatMap(describeDifference),
    ...(unlisted > 0 ? [`… and ${unlisted} more differences`] : []),
    ...(differences.length > 0 ? [''] : []),
    ...(unreadable > 0 ? [`${unreadable} orders and tokens could not be read and were not compared`] : []),
    ...(rereads > 0
      ? [`the blocks that explain differing tokens are read again: ${rereads} ranges (mercat status)`]
      : []),
    ...(seed === null ? [] : [`drawn with --seed ${seed}`]),
    ...chains.flatMap(({ digest }) => (digest ? [describeDigest(digest)] : [])),
    `drift ${drift} over ${compared} on ${chains.length} chains`,
  ];
  return `${formatTable(columns, rows, stdout)}${lines.map((line) => `${printable(line)}\n`).join('')}`;
}

function describeDigest({ chain, block, hash, digest, rows }: ChainDigest): string {
  const covered = `${rows.listings} listings, ${rows.owners} owners, ${rows.sales} sales, ${rows.hours} sums`;
  return `digest of ${chain} at block ${block} (${hash}): ${digest} over ${covered}`;
}

function describeDifference({ chain, block, subject, field, ours, theirs }: Difference): string[] {
  const where = block === null ? chain : `${chain} at block ${block}`;
  const theirName = block !== null ? 'chain' : field === 'counted' ? 'count' : 'replay';
  return [`${where}: ${subject}, ${field}`, `  ${'served'.padEnd(8)}${ours}`, `  ${theirName.padEnd(8)}${theirs}`];
}
