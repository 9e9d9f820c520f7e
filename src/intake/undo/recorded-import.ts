// Writes the entry of an import in the list of imports. The entry is inserted when the import starts, and completed when it ends.

import { createId } from '../../platform/core/time-ordered-id.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { ImportSummary } from '../import-summary.ts';
import type { Importer } from '../ingest/products.ts';
import { insertImport, updateEndedImport } from '../queries/imports.ts';
import { ChangeLog } from './change-log.ts';

type RecordContext = { main: Queryable; clock: Clock; log: Log };

/** A longer file name is cut to this many characters. */
const FILE_NAME_MAX = 500;

/** Stores the start of an import. Returns the log in which the import records its changes. */
export async function beginImport(
  { main, clock }: Omit<RecordContext, 'log'>,
  { importer, file, format, replace }: { importer: Importer; file: string | null; format: string; replace: boolean },
): Promise<ChangeLog> {
  const startedAt = clock();
  const id = createId('imp', startedAt);
  const name = file?.slice(0, FILE_NAME_MAX).replaceAll('\0', '').toWellFormed() ?? null;
  const { keyId, shopId } = importer === 'operator' ? { keyId: null, shopId: null } : importer;
  await insertImport(main, { id, keyId, shopId, file: name, format, replaces: replace, startedAt });
  return new ChangeLog(id, startedAt);
}

/**
 * Stores the end of an import and its counts. Never rejects: if the database fails, the error is logged, and the list shows the import
 * without an end. Such an import can still be undone.
 */
export async function endImport(
  { main, clock, log }: RecordContext,
  id: string,
  { summary, error }: { summary: ImportSummary; error: string | null },
): Promise<void> {
  const { read, inserted, updated, unchanged, conflict, refused, byKind } = summary;
  const counts = { read, inserted, updated, unchanged, conflict, refused, byKind };
  await updateEndedImport(main, id, { endedAt: clock(), counts, error }).catch((cause: unknown) => {
    log.warn('the end of an import could not be recorded', { import: id, error: cause });
  });
}
