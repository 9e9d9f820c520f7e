// The record of one import in the list of imports: written at its start, and completed at its end.

import { createId } from '../../core/time-ordered-id.ts';
import type { Clock } from '../../core/clock.ts';
import type { Queryable } from '../../database/port.ts';
import type { ImportSummary } from '../import-summary.ts';
import type { Importer } from '../ingest/products.ts';
import { insertImport, updateEndedImport } from '../queries/imports.ts';
import { ChangeLog } from './change-log.ts';

type RecordContext = { main: Queryable; clock: Clock };

/** The longest name of a file that is stored, in characters. */
const FILE_NAME_MAX = 500;

/** Stores that an import has begun. Returns the log to which its changes are written. */
export async function beginImport(
  { main, clock }: RecordContext,
  { importer, file, format, replace }: { importer: Importer; file: string | null; format: string; replace: boolean },
): Promise<ChangeLog> {
  const startedAt = clock();
  const id = createId('imp', startedAt);
  const name = file?.slice(0, FILE_NAME_MAX).replaceAll('\0', '').toWellFormed() ?? null;
  await insertImport(main, { id, ...importer, file: name, format, replaces: replace, startedAt });
  return new ChangeLog(id, startedAt);
}

/**
 * Stores that an import has ended, and its counts. Never rejects: if the database fails, the list shows an import without an end, and the
 * import can be undone like any other.
 */
export async function endImport(
  { main, clock }: RecordContext,
  id: string,
  { summary, error }: { summary: ImportSummary; error: string | null },
): Promise<void> {
  const { read, inserted, updated, unchanged, conflict, refused, byKind } = summary;
  const counts = { read, inserted, updated, unchanged, conflict, refused, byKind };
  await updateEndedImport(main, id, { endedAt: clock(), counts, error }).catch(() => undefined);
}
