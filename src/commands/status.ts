// `mercat status`: how the service is doing, for people. The same as JSON, and for anyone without the words, is GET /status.

import { parseArgs } from 'node:util';
import type { TaskStatus, UpstreamSummary } from '../sync/status.ts';
import type { Command } from './command.ts';
import { parseUsage } from './command.ts';
import { reachWorkers } from './reach-workers.ts';

const HELP = `Usage: mercat status [--json]

Shows the databases, and of each task: its state, how long ago it last did its work, what became of the rows, and the
upstreams that it asks with their breakers and what is left of their budgets.

  --json   print all of it as one JSON value
`;

type Shown = Record<string, unknown> & { unavailable: string[] };

export const statusCommand: Command = {
  name: 'status',
  summary: 'show how the sources and tasks are doing',
  help: HELP,
  run: async (args, { stdout }) => {
    const { values } = parseUsage(statusCommand, () => parseArgs({ args, options: { json: { type: 'boolean' } } }));
    const workers = await reachWorkers();
    try {
      const status = (await workers.call('status', {})) as Shown;
      // Where the primary cannot be read, the rest is still told.
      const tasks = status.unavailable.includes('tasks')
        ? null
        : ((await workers.call('sync.read', {})) as TaskStatus[]);
      const shown = { ...status, tasks };
      stdout.write(values.json ? `${JSON.stringify(shown)}\n` : toWords(shown));
      return 0;
    } finally {
      await workers.close();
    }
  },
};

function toWords({ at: _at, unavailable, tasks, ...sections }: Shown & { tasks: TaskStatus[] | null }): string {
  const parts = Object.entries(sections)
    .filter(([, section]) => section !== null && Object.keys(section as object).length > 0)
    .map(([name, section]) => `${name}\n${toLines(section)}`);
  if (tasks) parts.push(`tasks\n${tasks.map(toTaskLines).join('')}`);
  if (unavailable.length > 0) parts.push(`cannot be read now: ${unavailable.join(', ')}\n`);
  return parts.join('\n');
}

/** A section whose shape is its provider's: one line an entry, `name  key value, …`. */
function toLines(section: unknown): string {
  return Object.entries(section as object)
    .map(([key, entry]: [string, unknown]) => {
      if (typeof entry !== 'object' || entry === null) return `  ${key}  ${String(entry)}\n`;
      const named = Array.isArray(section) ? '' : `${key}  `;
      return `  ${named}${toPairs(entry)}\n`;
    })
    .join('');
}

function toPairs(entry: object): string {
  return Object.entries(entry)
    .filter(([, value]) => value !== null)
    .map(([key, value]: [string, unknown]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

const NAME_WIDTH = 20;

function toTaskLines(task: TaskStatus): string {
  const {
    name,
    state,
    lagSeconds,
    rows,
    failures,
    upstreams,
    progress,
    lastError,
    problems = [],
    refusals = [],
  } = task;
  const lag = lagSeconds === null ? 'never done' : `done ${toSpan(lagSeconds)} ago`;
  const counts = `${rows.read} read, ${rows.changed} changed, ${rows.refused} refused, ${rows.retired} retired`;
  const lines = [
    `${name.padEnd(NAME_WIDTH)}  ${state.padEnd(8)}  ${lag}, every ${toSpan(task.periodSeconds)}; ${counts}`,
  ];
  if (progress)
    lines.push(`  at ${progress.done}${progress.total === null ? '' : ` of ${progress.total}`} ${progress.what}`);
  if (failures > 0) lines.push(`  failed ${failures} times in a row: ${lastError ?? ''}`);
  lines.push(...upstreams.map(toUpstreamLine), ...problems.map((problem) => `  ${problem}`));
  lines.push(...refusals.map(({ reason, count }) => `  ${count} refused: ${reason}`));
  return lines.map((line) => `  ${line}\n`).join('');
}

function toUpstreamLine({ name, breaker, budget, requests, retries, lastFailure }: UpstreamSummary): string {
  const left = budget ? `, ${budget.left} of ${budget.perHour} requests an hour left at once` : '';
  const failure = lastFailure === null ? '' : `, last failure ${lastFailure}`;
  return `  ${name}: breaker ${breaker}${left}, ${requests} requests, ${retries} retries${failure}`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

function toSpan(seconds: number): string {
  const [unit, size] = UNITS.find(([, least]) => seconds >= 2 * least) ?? ['s', 1];
  return `${Math.round(seconds / size)} ${unit}`;
}
