// `mercat history`: what has changed in the service, and when.

import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { ServiceHistory, HistoryEntry, SettingChange } from '../platform/database/service-history.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { readService } from './connect.ts';
import { formatTable } from './output.ts';

const LIMIT_MAX = 10_000;

export const defineHistory: DefineCommand = (history, io) => {
  history
    .description(
      'Show the newest starts of the service with their settings as far as they have changed, and the migrations of the databases. ' +
        'Secrets are masked, so a new value of a secret is not shown.',
    )
    .option('--limit <n>', 'how many entries', parseLimit, 50)
    .option('--json', JSON_OPTION)
    .action((options) => printHistory(options, io));
};

async function printHistory(
  { limit, json }: { limit: number; json?: true },
  { stdout, signal }: CommandIo,
): Promise<void> {
  const history = (await readService(signal, 'history.read', { limit })) as ServiceHistory;
  if (json) {
    stdout.write(`${JSON.stringify(history)}\n`);
    return;
  }
  const rows = history.entries.map((entry) => [entry.at, entry.kind, describeEntry(entry)]);
  stdout.write(rows.length > 0 ? formatTable(['time', 'event', 'what'], rows, stdout) : 'nothing is recorded yet\n');
  for (const schema of history.unavailable) stdout.write(`cannot be read now: the migrations of ${schema}\n`);
}

function describeEntry(entry: HistoryEntry): string {
  if (entry.kind === 'migration') return `${entry.schema}/${entry.name}`;
  const { command, host, version, settings } = entry;
  const changes = settings === null || settings.length === 0 ? '' : `: ${settings.map(describeChange).join(', ')}`;
  return `mercat ${command} on ${host}, version ${version}${changes}`;
}

function describeChange({ name, before, after }: SettingChange): string {
  return `${name} ${before ?? '(default)'} -> ${after ?? '(default)'}`;
}

function parseLimit(text: string): number {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`It must be a number from 1 to ${LIMIT_MAX}.`);
}
