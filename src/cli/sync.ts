// `mercat sync`: runs the tasks of one source now and shows how they go, in the running server or in this process.

import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { OperatorError } from '../core/errors.ts';
import type { TaskStatus } from '../tasks/task-status.ts';
import type { Command, CommandIo } from './command.ts';
import { parseUsage } from './command.ts';
import type { OperatorConnection } from './connect-operator.ts';
import { connectOperator } from './connect-operator.ts';

const HELP = `Usage: mercat sync NAME [--once] [--json]

Runs a task now, whether or not it is due: NAME is its name as mercat status shows it, or that of a source, whose tasks
are all run. Again every period until Ctrl-C, or with --once until it has run once; fails when a run has failed.

  --once   run once
  --json   print a list of what became of each task as one JSON value, for each time
`;

const POLL_MS = 200;

export const syncCommand: Command = {
  name: 'sync',
  summary: 'run the tasks of a source now',
  help: HELP,
  run: async (args, io) => {
    const { values, positionals } = parseUsage(syncCommand, () =>
      parseArgs({
        args,
        allowPositionals: true,
        options: { once: { type: 'boolean' }, json: { type: 'boolean' } },
      }),
    );
    const [name, ...rest] = positionals;
    if (name === undefined || rest.length > 0) {
      throw new OperatorError('say one NAME; see mercat sync --help', { exitCode: 2 });
    }
    const workers = await connectOperator();
    try {
      for (;;) {
        const tasks = await runOnce(workers, name, io);
        if (tasks === null) return 1;
        io.stdout.write(values.json ? `${JSON.stringify(tasks)}\n` : tasks.map(toWords).join(''));
        if (values.once) return tasks.some((task) => task.failures > 0) ? 1 : 0;
        await pause(Math.min(...tasks.map((task) => task.periodSeconds)) * 1_000, io.signal);
        if (io.signal.aborted) return tasks.some((task) => task.failures > 0) ? 1 : 0;
      }
    } finally {
      await workers.close();
    }
  },
};

/** The tasks when all have ended, or null when the operator did not want to wait. */
async function runOnce(workers: OperatorConnection, name: string, io: CommandIo): Promise<TaskStatus[] | null> {
  const before = (await workers.call('sync.start', { name })) as TaskStatus[];
  const endedBefore = new Map(before.map((task) => [task.name, task.lastEnded]));
  const shown = new Map<string, string>();
  while (!io.signal.aborted) {
    const tasks = (await workers.call('sync.read', { name })) as TaskStatus[];
    for (const task of tasks) showProgress(task, shown, io);
    const hasEnded = (task: TaskStatus) => task.lastEnded !== null && task.lastEnded !== endedBefore.get(task.name);
    if (tasks.every(hasEnded)) return tasks;
    await pause(POLL_MS, io.signal);
  }
  return null;
}

function showProgress({ name, progress }: TaskStatus, shown: Map<string, string>, { stderr }: CommandIo): void {
  if (!progress) return;
  const { done, total, what } = progress;
  const words = `${name}: ${done}${total === null ? '' : ` of ${total}`} ${what}`;
  if (shown.get(name) !== words) stderr.write(`${words}\n`);
  shown.set(name, words);
}

function toWords(task: TaskStatus): string {
  const { name, lastError, rows, lastStarted, lastEnded, problems = [], refusals = [] } = task;
  const seconds = (Date.parse(lastEnded ?? '') - Date.parse(lastStarted ?? '')) / 1_000;
  if (task.failures > 0) return `${name}: failed after ${seconds} s: ${lastError ?? ''}\n`;
  const counts = `${rows.read} read, ${rows.changed} changed, ${rows.refused} refused, ${rows.retired} retired`;
  return [
    `${name}: ${counts} in ${seconds} s`,
    ...problems.map((problem) => `  ${problem}`),
    ...refusals.map(({ reason, count, example }) => `  ${count} refused: ${reason}${example ? ` (${example})` : ''}`),
    '',
  ].join('\n');
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
