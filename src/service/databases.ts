// What is done with the databases of a process before it works: migrations, the clock, the watch on failing writes, the record of the start.

import type { Clock } from '../platform/core/clock.ts';
import { OperatorError } from '../platform/core/errors.ts';
import type { Log } from '../platform/core/log.ts';
import { CLOCK_PERIOD_MS, DatabaseClock } from '../platform/database/clock.ts';
import type { MigrationStep, Schema } from '../platform/database/migrate.ts';
import { migrate } from '../platform/database/migrate.ts';
import type { Databases } from '../platform/database/open.ts';
import type { Database } from '../platform/database/port.ts';
import { insertStart } from '../platform/database/service-history.ts';
import { tryWrite } from '../platform/database/try-write.ts';
import type { WriteHealth } from '../platform/database/write-health.ts';
import { OutageLog } from '../platform/http/outage-log.ts';
import { isDoneWithin } from '../platform/resilience/deadline.ts';
import { startPeriodic } from '../platform/tasks/periodic.ts';
import { readVersion } from '../platform/version.ts';
import type { ServiceContext } from './context.ts';

/** If the indexer database cannot be reached, its migration is repeated after this time. */
const MIGRATION_RETRY_MS = 2_000;
/** The start waits this long for the indexer database, then continues without it. */
const INDEXER_PATIENCE_MS = 3_000;

type Open = { close: () => Promise<unknown> | void };
type Failing = {
  /** Rejects with OperatorError when the process must not go on. Never resolves. */
  failed: Promise<never>;
};

/**
 * Brings both schemas up to date. If a separate indexer database cannot be reached, the process starts without it. The migration is then
 * repeated until it succeeds. If a repeated migration shows that the indexer database must not be used, for example because a newer version
 * has made it, `failed` rejects. `announce` is called with each step.
 */
export async function migrateAll(
  { main, indexer }: Databases,
  log: Log,
  announce: (step: string) => void = () => undefined,
): Promise<Open & Failing> {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  // Without this handler, the rejection would end a process that does not wait for `failed`.
  failed.catch(() => undefined);
  const onStep = (step: MigrationStep) => {
    logMigration(log, step);
    announce(`migration ${step.number} of ${step.count} of the schema ${step.schema}`);
  };
  await migrate(main, 'main', { onStep });
  if (indexer !== main) return { failed, close: await migrateIndexer(indexer, log, { onStep, onRefused: reject }) };
  await migrate(indexer, 'indexer', { onStep });
  return { failed, close: () => Promise.resolve() };
}

type MigrationReports = { onStep: (step: MigrationStep) => void; onRefused: (error: OperatorError) => void };

function logMigration(log: Log, { tookMs, schema, name, number, count }: MigrationStep): void {
  const fields = { schema, migration: name, number, count };
  if (tookMs === null) log.info('a migration begins', fields);
  else log.info('a migration is applied', { ...fields, ms: tookMs });
}

async function migrateIndexer(
  indexer: Database,
  log: Log,
  { onStep, onRefused }: MigrationReports,
): Promise<() => Promise<void>> {
  const attempt = async () => {
    await migrate(indexer, 'indexer', { onStep });
    log.info('the indexer database is ready');
  };
  let firstInProgress: Promise<void> | null = null;
  try {
    const first = attempt();
    if (await isDoneWithin(first, INDEXER_PATIENCE_MS)) return () => Promise.resolve();
    firstInProgress = first;
    log.warn('the indexer database does not respond; the service continues without it');
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    log.warn('the indexer database cannot be reached; the service continues without it', { error });
  }
  let stop = () => Promise.resolve();
  const run = async () => {
    const current = firstInProgress ?? attempt();
    firstInProgress = null;
    try {
      await current;
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      onRefused(error);
    }
    void stop();
  };
  stop = startPeriodic({ name: 'indexer-migration', periodMs: MIGRATION_RETRY_MS, run }, log);
  return () => stop();
}

/** Starts a clock that follows the clock of the primary database. */
export async function startClock({ main }: Pick<Databases, 'main'>, log: Log): Promise<Open & { now: Clock }> {
  const clock = await DatabaseClock.start({ db: main, log });
  // While the database cannot be read, the clock continues without it. The level is debug, because requests already report the outage.
  const noteUnread = (error: unknown) => log.debug('the clock of the primary database could not be read', { error });
  const run = () => clock.adjust().catch(noteUnread);
  return { now: clock.now, close: startPeriodic({ name: 'clock', periodMs: CLOCK_PERIOD_MS, run }, log) };
}

type NamedDatabase = { schema: Schema; title: string; db: Database; writes: WriteHealth };

/** The primary, and the indexer unless it is a schema of the primary. */
export function listDatabases({ main, indexer }: Pick<ServiceContext, 'main' | 'indexer'>): NamedDatabase[] {
  const toNamed = (schema: Schema, title: string, db: Database) => ({ schema, title, db, writes: db.writes });
  const primary = toNamed('main', 'primary database', main);
  return indexer === main ? [primary] : [primary, toNamed('indexer', 'indexer database', indexer)];
}

/** Logs when a database no longer accepts writes, and when it accepts writes again. */
export function watchWrites(context: ServiceContext): Open {
  const stops = listDatabases(context).map(({ schema, title, db, writes }) => {
    const messages = { begin: `the ${title} accepts no writes`, end: `the ${title} accepts writes again` };
    const outages = new OutageLog(context.log, messages);
    return writes.watch({ tryWrite: () => tryWrite(db, schema), outages, clock: context.clock });
  });
  return {
    close: () => {
      for (const stop of stops) stop();
    },
  };
}

/** A start that cannot be recorded, for example because the disk is full, goes on. */
export async function recordStart({ main, config, log }: ServiceContext, command: string): Promise<void> {
  try {
    await insertStart(main, { command, version: readVersion(), settings: config.given });
  } catch (error) {
    log.warn('the start could not be recorded', { error });
  }
}
