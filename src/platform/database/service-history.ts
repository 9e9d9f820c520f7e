// What has changed in a service, for the operator: the starts of its processes with their settings, and the migrations of its databases.

import os from 'node:os';
import type { Schema } from './migrate.ts';
import type { Database, Queryable } from './port.ts';
import { json, rowDecoder, text, timestamp } from './rows.ts';

/** The settings that differ from their defaults, by name, with secrets masked. */
export type GivenSettings = Readonly<Record<string, string>>;

/** The newest starts that are kept. */
const STARTS_MAX = 1_000;

/** Records a start. `command`: the command that started the process, such as `serve`. */
export async function insertStart(
  main: Queryable,
  { command, version, settings }: { command: string; version: string; settings: GivenSettings },
): Promise<void> {
  await main.query(
    `with started as (
       insert into main.service_start (command, host, version, settings) values ($1, $2, $3, $4::text::jsonb) returning id
     )
     delete from main.service_start using started where service_start.id <= started.id - $5::int`,
    [command, os.hostname(), version, JSON.stringify(settings), STARTS_MAX],
  );
}

/** A setting that was changed. `before` and `after` are null where the setting had its default. A secret is masked. */
export type SettingChange = { name: string; before: string | null; after: string | null };

export type HistoryEntry = { at: string } & (
  | {
      kind: 'start';
      command: string;
      host: string;
      version: string;
      /** How the settings differ from those of the start before, of the same command on the same host. Null if there was none. */
      settings: SettingChange[] | null;
    }
  | { kind: 'migration'; schema: Schema; name: string }
);

/** `unavailable`: the schemas whose migrations could not be read. */
export type ServiceHistory = { entries: HistoryEntry[]; unavailable: Schema[] };

/** The newest `limit` entries, newest first. */
export async function readServiceHistory(
  { main, indexer }: { main: Database; indexer: Database },
  limit: number,
): Promise<ServiceHistory> {
  const ofIndexer = await listMigrations(indexer, 'indexer').catch(() => null);
  const entries = [...(await listStarts(main)), ...(await listMigrations(main, 'main')), ...(ofIndexer ?? [])];
  const newest = entries.toSorted((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0));
  return { entries: newest.slice(0, limit), unavailable: ofIndexer === null ? ['indexer'] : [] };
}

const isSettings = (value: unknown): value is GivenSettings =>
  typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');

const decodeStart = rowDecoder('service_start', {
  at: timestamp,
  command: text,
  host: text,
  version: text,
  settings: json('settings by name', isSettings),
});

async function listStarts(main: Queryable): Promise<HistoryEntry[]> {
  const rows = await main.query(`select at, command, host, version, settings from main.service_start order by id`);
  const previous = new Map<string, GivenSettings>();
  const entries = rows.map((row): HistoryEntry => {
    const { at, command, host, version, settings } = decodeStart(row);
    const program = JSON.stringify([command, host]);
    const before = previous.get(program);
    previous.set(program, settings);
    const changes = before ? compareSettings(before, settings) : null;
    return { at: new Date(at).toISOString(), kind: 'start', command, host, version, settings: changes };
  });
  return entries.toReversed();
}

function compareSettings(before: GivenSettings, after: GivenSettings): SettingChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names
    .map((name) => ({ name, before: before[name] ?? null, after: after[name] ?? null }))
    .filter((change) => change.before !== change.after);
}

const decodeMigration = rowDecoder('migration', { name: text, appliedAt: timestamp });

async function listMigrations(db: Queryable, schema: Schema): Promise<HistoryEntry[]> {
  const rows = await db.query(
    `select name, applied_at as "appliedAt" from ${schema}.migration order by applied_at desc, name desc`,
  );
  return rows.map((row) => {
    const { name, appliedAt } = decodeMigration(row);
    return { at: new Date(appliedAt).toISOString(), kind: 'migration', schema, name };
  });
}
