// `mercat audit`: holds what is served against what the chains say, or against a replay of the stored log.

import { parseArgs } from 'node:util';
import { OperatorError } from '../core/errors.ts';
import type { AuditReport, ChainAudit, Difference } from '../chains/audit/report.ts';
import type { Command } from './command.ts';
import { parseUsage } from './command.ts';
import { connectOperator } from './connect-operator.ts';

const HELP = `Usage: mercat audit [--chain CHAIN] [--sample N] [--seed SEED] [--json]
       mercat audit --replay [--chain CHAIN] [--json]

Draws signed orders of the own book and tokens of followed collections, asks each chain about them at the block up to which
it has been read (getOrderStatus, getCounter, ownerOf, balanceOf, isApprovedForAll, getApproved), and prints what is not as the
chain has it. A difference is looked at again at a newer block before it is one. What a chain does not answer is counted
apart. Exit code 0: no drift, and everything was readable.

With --replay no chain is asked: the stored log of events is written anew into an empty database by the code that follows
the chains, and everything that is served because of it has to come out the same, byte for byte.

  --chain CHAIN   only this one
  --sample N      so many orders and so many tokens of each chain (200; 0: all)
  --seed SEED     draw the same ones again
  --json          print the result as one JSON value
`;

export const auditCommand: Command = {
  name: 'audit',
  summary: 'compare what is served with the chains, or with a replay of their log',
  help: HELP,
  run: async (args, { stdout }) => {
    const { values } = parseUsage(auditCommand, () =>
      parseArgs({
        args,
        options: {
          chain: { type: 'string' },
          sample: { type: 'string' },
          seed: { type: 'string' },
          replay: { type: 'boolean' },
          json: { type: 'boolean' },
        },
      }),
    );
    const { chain, seed, replay = false } = values;
    const sample = readSample(values.sample);
    if (replay && (seed !== undefined || sample !== undefined)) {
      throw new OperatorError('a replay compares everything: it takes neither --sample nor --seed', { exitCode: 2 });
    }
    const workers = await connectOperator();
    let report: AuditReport;
    try {
      const asked = replay ? workers.call('audit.replay', { chain }) : workers.call('audit', { chain, sample, seed });
      report = (await asked) as AuditReport;
    } finally {
      await workers.close();
    }
    stdout.write(values.json ? `${JSON.stringify(report)}\n` : describeReport(report));
    return report.drift === 0 && report.unreadable === 0 ? 0 : 1;
  },
};

function readSample(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new OperatorError('--sample must be a number, 0 for all', { exitCode: 2 });
}

const COLUMNS = ['chain', 'block', 'orders', 'tokens', 'unreadable', 'drift'] as const;

function describeReport(report: AuditReport): string {
  const { drift, orders, tokens, unreadable, chains, differences, seed } = report;
  const rest = drift - differences.length;
  const words = [
    ...toTable(chains),
    '',
    ...differences.flatMap(describeDifference),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
    ...(differences.length > 0 ? [''] : []),
    ...(unreadable > 0 ? [`${unreadable} could not be read, of which nothing is known`] : []),
    ...(seed === null ? [] : [`drawn with --seed ${seed}`]),
    `drift ${drift} over ${orders} orders and ${tokens} tokens on ${chains.length} chains`,
  ];
  return `${words.join('\n')}\n`;
}

function toTable(chains: readonly ChainAudit[]): string[] {
  const rows = [COLUMNS, ...chains.map((row) => COLUMNS.map((column) => String(row[column] ?? '-')))];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join('  '));
}

function describeDifference({ chain, block, subject, field, ours, theirs }: Difference): string[] {
  const where = block === null ? chain : `${chain} at block ${block}`;
  const [we, they] = block === null ? ['served', 'replay'] : ['we say', 'chain says'];
  return [`${where}: ${subject}, ${field}`, `  ${we.padEnd(10)} ${ours}`, `  ${they.padEnd(10)} ${theirs}`];
}
