// `mercat move-index`: copies the index to another PostgreSQL or Citus database while the service runs, and closes the old index, which rejects
// changes from then on. If a server has the embedded database open, the server moves the index.

import { OperatorError } from '../core/errors.ts';
import type { Abandoned } from '../database/index-move/begin.ts';
import type { MoveJobState, MovePlan } from '../database/index-move/jobs.ts';
import type { MoveResult } from '../database/index-move/move.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { connect } from './connect.ts';
import { withPatience } from './interruption.ts';
import { formatTable } from './output.ts';
import { Progress } from './progress.ts';
import type { ServiceConnection } from './service-connection.ts';

export const defineMoveIndex: DefineCommand = (moveIndex, io) => {
  moveIndex
    .description(
      'Move the index (listings, sales, tokens and what is derived from them) to another PostgreSQL database, which may be the ' +
        'coordinator of a Citus cluster. The primary stays where it is. Servers and workers run on while all rows are ' +
        'copied and compared, and while later changes are copied and compared until few are left. Then the old index rejects changes: ' +
        'first for some seconds, while the last changes are copied and compared, then for good. Reads go on. When the command has ended, set ' +
        'INDEXER_DATABASE_URL to the new database, and restart the nodes one after the other.\n\nUntil the old index rejects changes for good, the service uses it, whatever ' +
        'happens to this command. A move that was stopped or killed continues when the command is repeated.',
    )
    .option('--to <url>', 'the new database: postgres://user:password@host/database, empty')
    .option('--dry-run', 'only check the new database, and print what would be moved')
    .option('--abandon', 'give the move up: the old index stays, and the new database of --to is emptied')
    .option(
      '--json',
      'print {rows, tables: {name: rows}, sealedMs, sealedChanges, seconds}, or the result of --dry-run or --abandon, as one JSON value',
    )
    .addHelpText(
      'after',
      `
Examples:
  mercat move-index --to postgres://mercat@10.0.0.7/index --dry-run
  mercat move-index --to postgres://mercat@10.0.0.7/index
  mercat move-index --abandon --to postgres://mercat@10.0.0.7/index

A password in --to is visible in the list of processes. If --to has no password, the password is read from
~/.pgpass: by the server if a server has the embedded database open, otherwise by the command.`,
    )
    .action((options) => runMoveIndex(options, io));
};

type Options = { to?: string; dryRun?: true; abandon?: true; json?: true };

async function runMoveIndex({ to, dryRun, abandon, json }: Options, io: CommandIo): Promise<void> {
  if (abandon && dryRun) throw new OperatorError('--abandon and --dry-run exclude each other', { exitCode: 2 });
  if (to === undefined && !abandon)
    throw new OperatorError('--to is missing: the URL of the new database', { exitCode: 2 });
  // The move requires the schema of this version, but does not create it: other nodes may have an earlier version.
  await using service = await connect(withPatience(io.signal), { migrate: false, bypassServer: true });
  const print = <T>(result: T, describe: (result: T, io: CommandIo) => string) =>
    io.stdout.write(json ? `${JSON.stringify(result)}\n` : describe(result, io));
  if (abandon) print((await service.call('move.abandon', { to: to ?? null })) as Abandoned, describeAbandoned);
  else if (dryRun) print((await service.call('move.plan', { to })) as MovePlan, describePlan);
  else {
    const { result, target } = await move(service, { to }, io);
    print(result, () => describeResult(result, target));
  }
}

async function move(
  service: ServiceConnection,
  input: { to: string | undefined },
  { stderr, signal }: CommandIo,
): Promise<{ result: MoveResult; target: string }> {
  const progress = new Progress(stderr);
  let shown = '';
  try {
    let state = (await service.call('move.start', input)) as MoveJobState;
    while (state.result === null && state.failure === null) {
      if (signal.aborted) await service.call('move.stop', {});
      state = (await service.call('move.read', {})) as MoveJobState;
      if (state.stage !== shown) progress.print(`${state.stage}: ${STAGES[state.stage]}`);
      shown = state.stage;
      const { stage, detail, rows, total } = state;
      progress.update({ done: rows, total, text: `${stage} ${detail}${rows > 0 ? `, ${count(rows)} rows` : ''}` });
    }
    if (state.result === null) throw new OperatorError(state.failure ?? 'the index was not moved');
    return { result: state.result, target: state.target };
  } finally {
    progress.clear();
  }
}

const STAGES: Readonly<Record<MoveJobState['stage'], string>> = {
  preparing: 'the schema of the new database, and the record of changes in the old one',
  copying: 'all rows, while the service runs',
  indexing: 'the SQL indexes of the new database',
  following: 'the changes since the rows were copied',
  comparing: 'all rows of both databases',
  'catching-up': 'the changes since the comparison, in rounds, until few are left',
  sealed: 'changes are rejected until the last rows are copied and compared',
  completing: 'the index is in the new database',
};

const count = (rows: number) => rows.toLocaleString('en');

function describeResult({ rows, tables, sealedMs, sealedChanges, seconds }: MoveResult, target: string): string {
  const compared =
    rows === 0
      ? `the index is in ${target}`
      : `the index is in ${target}: ${count(rows)} rows of ${Object.keys(tables).length} tables, compared with the old ones, in ${seconds} s; ` +
        `the last ${count(sealedChanges)} changes were copied and compared in ${(sealedMs / 1_000).toFixed(1)} s, and the old index has rejected changes since the start of this time`;
  return (
    `${compared}\n` +
    'Now set INDEXER_DATABASE_URL to the new database on every node and worker, and restart the nodes and workers one after the other. ' +
    'Until its restart, each of them serves the old index and rejects changes.\n'
  );
}

function describePlan({ source, target, step, check, rows }: MovePlan, { stdout }: CommandIo): string {
  const server = `PostgreSQL ${check.server}${check.citus === null ? '' : ` with Citus ${check.citus}`}, collation ${check.collation}`;
  const steps = {
    begin: 'would be copied',
    continue: 'are being copied: the move would continue',
    finish: 'have moved',
  };
  const total = Object.values(rows).reduce((sum, one) => sum + one, 0);
  const lines = Object.entries(rows)
    .filter(([, one]) => one > 0)
    .toSorted(([, a], [, b]) => b - a);
  return (
    `from ${source} to ${target} (${server}): about ${count(total)} rows ${steps[step]}\n` +
    formatTable(['table', 'rows'], lines, stdout)
  );
}

function describeAbandoned({ source, target }: Abandoned): string {
  const lines = [
    source ? 'the move is abandoned: the index stays where it is' : 'no move of this index was in progress',
    ...(target ? ['the copied rows are removed from the new database'] : []),
    ...(source && !target
      ? ['the new database keeps the rows that were copied: repeat the command with --to to remove them']
      : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
