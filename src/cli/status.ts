// `mercat status`: how the service is doing, for people. The same as JSON, and for anyone without the words, is GET /status.

import { parseArgs } from 'node:util';
import type { SharedWindowsStatus } from '../server/shared-windows.ts';
import type { ChainStatus } from '../chains/chain-status.ts';
import type { DatabaseStatus } from '../database/status.ts';
import type { TaskStatus } from '../tasks/task-status.ts';
import type { UpstreamSummary } from '../tasks/upstream-status.ts';
import type { Command } from './command.ts';
import { parseUsage } from './command.ts';
import { connectOperator } from './connect-operator.ts';

const HELP = `Usage: mercat status [--json]

Shows the databases, whether rate limits are shared where Redis is set, and of each task: its state, how long ago it last did
its work, what became of the rows, and the upstreams that it asks with their breakers and what is left of their budgets.

  --json   print all of it as one JSON value
`;

/** A section is null when it cannot be read, and named in `unavailable` then. */
type Shown = {
  databases: Readonly<Record<string, DatabaseStatus>> | null;
  /** Only of a running server, and one that has Redis among its settings. */
  rateLimits?: SharedWindowsStatus | null;
  chains: readonly ChainStatus[] | null;
  tasks: readonly TaskStatus[] | null;
  unavailable: string[];
};

export const statusCommand: Command = {
  name: 'status',
  summary: 'show how the sources and tasks are doing',
  help: HELP,
  run: async (args, { stdout }) => {
    const { values } = parseUsage(statusCommand, () => parseArgs({ args, options: { json: { type: 'boolean' } } }));
    const workers = await connectOperator();
    try {
      const status = (await workers.call('status', {})) as Shown;
      // Where the primary cannot be read, the rest is still told.
      const tasks = status.unavailable.includes('tasks')
        ? null
        : ((await workers.call('sync.read', {})) as TaskStatus[]);
      const shown: Shown = { ...status, tasks };
      stdout.write(values.json ? `${JSON.stringify(shown)}\n` : toWords(shown));
      return 0;
    } finally {
      await workers.close();
    }
  },
};

function toWords({ databases, rateLimits, chains, tasks, unavailable }: Shown): string {
  const parts = [
    ['databases', Object.entries(databases ?? {}).map(toDatabaseLine)],
    ['rate limits', rateLimits ? [toLimitLine(rateLimits)] : []],
    ['chains', (chains ?? []).map(toChainLines)],
    ['tasks', (tasks ?? []).map(toTaskLines)],
  ] as const;
  const shown = parts.filter(([, lines]) => lines.length > 0).map(([name, lines]) => `${name}\n${lines.join('')}`);
  if (unavailable.length > 0) shown.push(`cannot be read now: ${unavailable.join(', ')}\n`);
  return shown.join('\n');
}

const NAME_WIDTH = 20;

function toDatabaseLine([name, { engine, answers, latencyMs }]: [string, DatabaseStatus]): string {
  return `  ${name.padEnd(NAME_WIDTH)}  ${engine}, ${answers ? `answered in ${latencyMs} ms` : 'does not answer'}\n`;
}

function toLimitLine({ counted }: SharedWindowsStatus): string {
  return counted === 'shared'
    ? '  shared with the other nodes through Redis\n'
    : '  counted by this process alone: Redis is unavailable\n';
}

function toChainLines({ chain, mode, block, lagSeconds, reorganisations, note, collections, endpoints }: ChainStatus) {
  const read = block === null ? 'not read yet' : `block ${block}, ${toSpan(lagSeconds ?? 0)} ago`;
  const reorgs = reorganisations > 0 ? `, ${reorganisations} reorganisations` : '';
  const behind = collections.catchingUp > 0 ? `, ${collections.catchingUp} catching up` : '';
  const lines = [
    `${chain.padEnd(NAME_WIDTH)}  ${mode.padEnd(8)}  ${read}${reorgs}; ${collections.live} collections live${behind}`,
  ];
  if (note !== null) lines.push(`  ${note}`);
  for (const { position, state, lag, failures } of endpoints)
    lines.push(
      `  endpoint ${position + 1}: ${state}${lag ? `, ${lag} blocks behind` : ''}${failures > 0 ? `, ${failures} failures` : ''}`,
    );
  return lines.map((line) => `  ${line}\n`).join('');
}

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
  const lag = lagSeconds === null ? 'not done yet' : `done ${toSpan(lagSeconds)} ago`;
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
