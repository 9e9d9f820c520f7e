// Remembers complete backups in the primary database, so that the operator and the alerts learn when the last backup was made.

import type { StatusProvider } from '../../core/status.ts';
import type { Database, Queryable } from '../port.ts';
import { integer, rowDecoder, safeInteger, timestamp } from '../rows.ts';

/** The newest backups that are remembered. */
const BACKUPS_MAX = 100;
const STATUS_TIMEOUT_MS = 2_000;

/** `at`: the time of the data in the backup, in ISO 8601. `bytes`: the size of the file. */
export type RecordedBackup = { at: string; bytes: number; rows: number };

/** `ageSeconds` is measured by the clock of the database. */
export type LastBackup = RecordedBackup & { ageSeconds: number };

export async function insertBackup(main: Queryable, { at, bytes, rows }: RecordedBackup): Promise<void> {
  await main.query(
    `with made as (insert into main.backup (at, bytes, rows) values ($1, $2, $3) returning id)
     delete from main.backup using made where backup.id <= made.id - $4::int`,
    [at, bytes, rows, BACKUPS_MAX],
  );
}

const decodeBackup = rowDecoder('backup', { at: timestamp, bytes: safeInteger, rows: safeInteger, age: integer });

/** The newest backup. Null if none was made with `mercat backup`. */
export async function findLastBackup(main: Queryable): Promise<LastBackup | null> {
  const [row] = await main.query(
    `select at, bytes, rows, greatest(0, extract(epoch from now() - at))::int as age from main.backup order by at desc limit 1`,
  );
  if (!row) return null;
  const { at, age, ...size } = decodeBackup(row);
  return { at: new Date(at).toISOString(), ...size, ageSeconds: age };
}

/** Makes the section `backup` of the service's status. */
export function createBackupStatus(main: Database): StatusProvider {
  return { section: 'backup', read: () => findLastBackup(main.within(STATUS_TIMEOUT_MS)) };
}
