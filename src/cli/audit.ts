// `mercat audit`: compares what is served with the chains, or with a replay of the stored log.

import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { AuditReport, Difference } from '../chains/audit/report.ts';
import { OperatorError } from '../core/errors.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { callService } from './connect.ts';
import { formatTable, printable } from './output.ts';

export const defineAudit: DefineCommand = (audit, io) => {
  audit
    .description(
      'Draw signed orders of the own book and tokens of followed collections, read them from their chain at the block up to ' +
        'which it has been read (getOrderStatus, getCounter, ownerOf, balanceOf, isApprovedForAll, getApproved), and print ' +
        'what differs. A difference counts when it is still there at a newer block. What a chain does not return is counted ' +
        'apart.\n\nWith --replay no chain is read: the stored log of events is applied to an empty database by the code that ' +
        'follows the chains, and all that is served because of the log has to be the same afterwards.',
    )
    .option('--chain <chain>', 'only this chain')
    .option('--sample <number>', 'orders and tokens to draw of each chain (default: 200; 0: all)', parseSample)
    .option('--seed <seed>', 'draw the same orders and tokens as an earlier audit')
    .option('--replay', 'compare with a replay of the stored log')
    .option('--json', JSON_OPTION)
    .addHelpText('after', '\nExit code 1: something differs, or could not be read.')
    .action((options) => runAudit(options, io));
};

type Options = { chain?: string; sample?: number; seed?: string; replay?: true; json?: true };

async function runAudit({ chain, sample, seed, replay, json }: Options, io: CommandIo): Promise<void> {
  if (replay && (seed !== undefined || sample !== undefined)) {
    throw new OperatorError('--replay compares everything: use it without --sample and --seed', { exitCode: 2 });
  }
  const report = (await (replay
    ? callService('audit.replay', { chain })
    : callService('audit', { chain, sample, seed }))) as AuditReport;
  io.stdout.write(json ? `${JSON.stringify(report)}\n` : describeReport(report, io.stdout));
  if (report.drift > 0 || report.unreadable > 0) io.exitCode = 1;
}

function parseSample(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number, 0 for all.');
}

const COLUMNS = ['chain', 'block', 'orders', 'tokens', 'unreadable', 'drift'] as const;

function describeReport(report: AuditReport, stdout: CommandIo['stdout']): string {
  const { drift, orders, tokens, unreadable, chains, differences, seed } = report;
  const others = drift - differences.length;
  const rows = chains.map((row) => COLUMNS.map((column) => row[column]));
  const lines = [
    '',
    ...differences.flatMap(describeDifference),
    ...(others > 0 ? [`… and ${others} more`] : []),
    ...(differences.length > 0 ? [''] : []),
    ...(unreadable > 0 ? [`${unreadable} could not be read and were not compared`] : []),
    ...(seed === null ? [] : [`drawn with --seed ${seed}`]),
    `drift ${drift} over ${orders} orders and ${tokens} tokens on ${chains.length} chains`,
  ];
  return `${formatTable(COLUMNS, rows, stdout)}${lines.map((line) => `${printable(line)}\n`).join('')}`;
}

function describeDifference({ chain, block, subject, field, ours, theirs }: Difference): string[] {
  const where = block === null ? chain : `${chain} at block ${block}`;
  const theirName = block === null ? 'replay' : 'chain';
  return [`${where}: ${subject}, ${field}`, `  ${'served'.padEnd(8)}${ours}`, `  ${theirName.padEnd(8)}${theirs}`];
}
