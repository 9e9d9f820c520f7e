// `mercat sync`: runs one task, or all tasks of one source such as opensea, and shows their progress.

import { setTimeout as delay } from 'node:timers/promises';
import type { TaskStatus } from '../platform/tasks/task-status.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { connect } from './connect.ts';
import { printable } from './output.ts';
import type { ServiceConnection } from './service-connection.ts';

type Options = { once?: true; json?: true };

const POLL_PERIOD_MS = 200;

export const defineSync: DefineCommand = (sync, io) => {
  sync
    .description('Run a task now, even if it is not due, and then once in each of its periods until Ctrl-C.')
    .argument('<name>', 'the name of a task in mercat status, or of a source, such as opensea, to run all its tasks')
    .option('--once', 'run once; exit code 1 when a run failed')
    .option('--json', 'after each round, print the list of the tasks with their results as one JSON value')
    .addHelpText('after', '\nExample:\n  mercat sync prices --once')
    .action((name, options) => syncTasks(name, options, io));
};

async function syncTasks(name: string, { once, json }: Options, io: CommandIo): Promise<void> {
  await using service = await connect(io.signal);
  for (;;) {
    const tasks = await runOnce(service, name, io);
    if (tasks === null) {
      io.exitCode = 1;
      return;
    }
    io.stdout.write(json ? `${JSON.stringify(tasks)}\n` : tasks.map(describeTask).join(''));
    io.exitCode = tasks.some((task) => task.failures > 0) ? 1 : 0;
    if (once) return;
    await pause(Math.min(...tasks.map((task) => task.periodSeconds)) * 1_000, io.signal);
    if (io.signal.aborted) return;
  }
}

/** Starts the tasks and returns them after all have ended. Null if the operator stopped the command before that. */
async function runOnce(service: ServiceConnection, name: string, io: CommandIo): Promise<TaskStatus[] | null> {
  const before = (await service.call('sync.start', { name })) as TaskStatus[];
  const endedBefore = new Map(before.map((task) => [task.name, task.lastEnded]));
  const printed = new Map<string, string>();
  while (!io.signal.aborted) {
    const tasks = (await service.call('sync.read', { name })) as TaskStatus[];
    for (const task of tasks) printProgress(task, printed, io);
    const hasEnded = (task: TaskStatus) => task.lastEnded !== null && task.lastEnded !== endedBefore.get(task.name);
    if (tasks.every(hasEnded)) return tasks;
    await pause(POLL_PERIOD_MS, io.signal);
  }
  return null;
}

/** Prints the progress of a task if it has changed. `printed`: the latest printed line of each task. */
function printProgress({ name, progress }: TaskStatus, printed: Map<string, string>, { stderr }: CommandIo): void {
  if (!progress) return;
  const { done, total, what } = progress;
  const line = printable(`${name}: ${done}${total === null ? '' : ` of ${total}`} ${what}`);
  if (printed.get(name) !== line) stderr.write(`${line}\n`);
  printed.set(name, line);
}

function describeTask(task: TaskStatus): string {
  const { name, lastError, rows, lastStarted, lastEnded, problems = [], refusals = [] } = task;
  const seconds = (Date.parse(lastEnded ?? '') - Date.parse(lastStarted ?? '')) / 1_000;
  if (task.failures > 0) return `${name}: failed after ${seconds} s: ${printable(lastError ?? '')}\n`;
  const counts = `${rows.read} read, ${rows.changed} changed, ${rows.refused} refused, ${rows.retired} retired`;
  const lines = [
    `${name}: ${counts} in ${seconds} s`,
    ...problems.map((problem) => `  ${problem}`),
    ...refusals.map(({ reason, count, example }) => `  ${count} refused: ${reason}${example ? ` (${example})` : ''}`),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
