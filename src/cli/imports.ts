// `mercat imports`: lists imports, and takes an import back.

import type { ListedImport } from '../intake/undo/list-imports.ts';
import type { UndoCounts, UndoPart, UndoPosition } from '../intake/undo/undo-import.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { connect, readService } from './connect.ts';
import { withPatience } from './interruption.ts';
import { formatTable, printable } from './output.ts';
import { Progress } from './progress.ts';

export const defineImports: DefineCommand = (imports, io) => {
  imports.description('What was imported, by whom and when. An import can be taken back within 30 days.');
  imports
    .command('list')
    .description('List the newest 100 imports, with the number of rows that an undo would take back.')
    .option('--json', JSON_OPTION)
    .action((options) => listImports(options, io));
  imports
    .command('undo')
    .description(
      'Take an import back: delete the rows that it inserted, and restore the rows that it changed. A row that has changed since the ' +
        'import is not changed back, and is printed. An undo that was stopped or killed continues when the command is repeated.',
    )
    .argument('<id>', 'the id of the import, printed by mercat import and by mercat imports list')
    .option('--dry-run', 'only print what would be taken back')
    .option('--json', JSON_OPTION)
    .addHelpText(
      'after',
      `
Exit codes:
  0  all rows of the import were taken back, or do not exist any more
  1  the undo failed or was stopped, or some rows were not changed back because they have changed since the import
  2  the arguments are wrong`,
    )
    .action((id, options) => undoImport(id, options, io));
};

async function listImports({ json }: { json?: true }, { stdout, signal }: CommandIo): Promise<void> {
  const listed = (await readService(signal, 'imports.list', {})) as ListedImport[];
  if (json) stdout.write(`${JSON.stringify(listed)}\n`);
  else if (listed.length === 0) stdout.write('nothing was imported\n');
  else {
    const heads = ['id', 'started', 'by', 'file', 'inserted', 'updated', 'unchanged', 'conflict', 'refused', 'undo'];
    stdout.write(formatTable(heads, listed.map(toCells), stdout));
  }
}

function toCells(one: ListedImport): (string | number | null)[] {
  const counts = (one.counts ?? {}) as Partial<Record<string, number>>;
  const by = one.by ? (one.by.name ?? one.by.key) : 'operator';
  const numbers = ['inserted', 'updated', 'unchanged', 'conflict', 'refused'].map((name) => counts[name] ?? null);
  return [one.id, one.startedAt.slice(0, 19), by, one.file, ...numbers, describeUndo(one)];
}

function describeUndo({ undo, undoable, endedAt }: ListedImport): string {
  const rows = Object.values(undoable).reduce((sum, count) => sum + count, 0);
  const left = rows === 0 ? 'no rows' : `${rows.toLocaleString('en')} rows`;
  if (undo) return rows === 0 ? undo.state : `${undo.state}, ${left} left`;
  return endedAt === null ? `${left} (running or killed)` : left;
}

type UndoOptions = { dryRun?: true; json?: true };

async function undoImport(id: string, { dryRun, json }: UndoOptions, io: CommandIo): Promise<void> {
  const undo = dryRun
    ? ((await readService(io.signal, 'imports.undo', { id, dryRun })) as UndoPart)
    : await undoAll(id, io);
  const kept = Object.values(undo.rows).reduce((sum, counts) => sum + counts.kept, 0);
  if (json) {
    const { next: _next, ...result } = undo;
    io.stdout.write(`${JSON.stringify({ ...result, complete: dryRun || undo.next === null })}\n`);
  } else io.stdout.write(describe(undo, { dryRun: dryRun ?? false }));
  if (undo.next !== null || (kept > 0 && !dryRun)) io.exitCode = 1;
}

/** Undoes the parts of an import in turn, until all are undone or the command is interrupted. */
async function undoAll(id: string, { stderr, signal }: CommandIo): Promise<UndoPart> {
  const progress = new Progress(stderr);
  await using service = await connect(withPatience(signal));
  let total: UndoPart | null = null;
  let position: UndoPosition | null = null;
  try {
    do {
      const part = (await service.call('imports.undo', { id, position })) as UndoPart;
      total = total ? addParts(total, part) : part;
      position = part.next;
      progress.update({ done: 0, total: null, text: `${countRows(total).toLocaleString('en')} rows taken back` });
    } while (position !== null && !signal.aborted);
  } finally {
    progress.clear();
  }
  return total;
}

/** The most rows of `kept` that the text names. */
const KEPT_PRINTED_MAX = 20;

function addParts(sum: UndoPart, part: UndoPart): UndoPart {
  const rows: UndoPart['rows'] = { ...sum.rows };
  for (const [kind, counts] of Object.entries(part.rows)) {
    const before = rows[kind as keyof typeof rows];
    rows[kind as keyof typeof rows] = before ? addCounts(before, counts) : counts;
  }
  return { ...part, rows, kept: [...sum.kept, ...part.kept].slice(0, KEPT_PRINTED_MAX) };
}

function addCounts(a: UndoCounts, b: UndoCounts): UndoCounts {
  return {
    removed: a.removed + b.removed,
    restored: a.restored + b.restored,
    missing: a.missing + b.missing,
    kept: a.kept + b.kept,
  };
}

function countRows({ rows }: UndoPart): number {
  return Object.values(rows).reduce((sum, { removed, restored }) => sum + removed + restored, 0);
}

function describe({ id, rows, kept, next }: UndoPart, { dryRun }: { dryRun: boolean }): string {
  const lines = Object.entries(rows).map(([kind, counts]) => `${kind}: ${describeCounts(counts, dryRun)}`);
  if (lines.length === 0) lines.push(`${id} has no rows that can be taken back`);
  for (const one of kept) lines.push(`kept: ${one.kind} ${printable(one.row)} ${one.reason}`);
  if (next !== null) lines.push(`stopped; mercat imports undo ${id} continues`);
  return lines.map((line) => `${dryRun ? 'dry run: ' : ''}${line}\n`).join('');
}

function describeCounts({ removed, restored, missing, kept }: UndoCounts, dryRun: boolean): string {
  const would = dryRun ? 'to be ' : '';
  const parts = [
    [removed, `${would}deleted`],
    [restored, `${would}restored`],
    [missing, 'gone already'],
    [kept, 'kept, because they cannot be taken back'],
  ] as const;
  return parts.flatMap(([rows, what]) => (rows > 0 ? [`${rows.toLocaleString('en')} ${what}`] : [])).join(', ');
}
