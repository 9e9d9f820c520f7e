// `mercat status`: prints the state of the service. It also prints the error messages of tasks, which the public GET /status leaves out.

import type { CollectionMetadataStatus } from '../sources/metadata/status.ts';
import type { ChainStatus } from '../sources/chains/chain-status.ts';
import { toChainSetting } from '../service/config.ts';
import type { RedisWindowsStatus } from '../server/rate-limit/redis-windows.ts';
import type { LastBackup } from '../platform/database/backup/record.ts';
import type { SchemaState } from '../platform/database/health.ts';
import type { DatabaseStatus } from '../platform/database/status.ts';
import type { WriteFailure } from '../platform/database/write-health.ts';
import type { ProcessReport } from '../service/processes/calls.ts';
import type { SalesStatus } from '../market/index/sales-status.ts';
import type { DeliveryQueue } from '../shop/queries/delivery-queue.ts';
import type { TaskStatus } from '../platform/tasks/task-status.ts';
import type { UpstreamSummary } from '../platform/tasks/upstream-status.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { connect } from './connect.ts';
import { describeDispute, describeDisputeRemedy } from './describe-dispute.ts';
import { describeRanges } from './describe-ranges.ts';
import type { Cell, Style } from './output.ts';
import { emphasize, formatTable, printable } from './output.ts';

/** A section that cannot be read is null, and its name is in `unavailable`. */
type Status = {
  databases: Readonly<Record<string, DatabaseStatus>> | null;
  /** Absent unless a server with REDIS_URL runs. */
  rateLimits?: RedisWindowsStatus | null;
  chains: readonly ChainStatus[] | null;
  sales: readonly SalesStatus[] | null;
  tasks: readonly TaskStatus[] | null;
  webhooks: DeliveryQueue | null;
  /** Null also if no backup was made. */
  backup: LastBackup | null;
  /** The metadata of followed collections with the hosts of failures. Null if it cannot be read. */
  metadata: readonly CollectionMetadataStatus[] | null;
  /** Collections with rows and without a collection record, at most UNRECORDED_MAX. Null if they cannot be read. */
  unrecordedCollections: readonly string[] | null;
  /** Absent unless several processes serve. */
  processes?: readonly ProcessReport[] | null;
  /** How the migrations of each schema fit this program. Null if they cannot be read. */
  schemas: Readonly<Record<string, SchemaState>> | null;
  /** Why writes to a database fail, with the error of the database. Null if it cannot be read. */
  writeFailures: Readonly<Record<string, WriteFailure | null>> | null;
  unavailable: string[];
};

export const defineStatus: DefineCommand = (status, io) => {
  status
    .description(
      'Show the serving processes, whether the databases respond, how far each chain has been read, whether rate limits are shared through Redis, ' +
        'the queue of webhooks, and the last backup. For each task, show its state, its last success, its rows, and the circuit breakers and request budgets of the sources ' +
        'that it reads. List the collections that have rows but no collection record.',
    )
    .option('--json', JSON_OPTION)
    .action((options) => printStatus(options, io));
};

async function printStatus({ json }: { json?: true }, { stdout, signal }: CommandIo): Promise<void> {
  // The command only reads, so it applies no migrations, and also works on a database that accepts no writes.
  await using service = await connect(signal, { migrations: 'ignore' });
  const status = (await service.call('status', {})) as Status;
  // `sync.read` returns more about tasks than the public status. If the public status of the tasks cannot be read, `sync.read` fails too.
  const tasks = status.unavailable.includes('tasks') ? null : ((await service.call('sync.read', {})) as TaskStatus[]);
  const readOrNull = (operation: string) =>
    service.call(operation, {}).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return null;
    });
  const metadata = (await readOrNull('metadata.read')) as Status['metadata'];
  const unrecordedCollections = (await readOrNull('collections.unrecorded')) as string[] | null;
  const writeFailures = (await readOrNull('databases.writes')) as Status['writeFailures'];
  const schemas = (await readOrNull('databases.schemas')) as Status['schemas'];
  const complete: Status = { ...status, tasks, metadata, unrecordedCollections, writeFailures, schemas };
  stdout.write(json ? `${JSON.stringify(complete)}\n` : describeStatus(complete, stdout));
}

function describeStatus(status: Status, stdout: CommandIo['stdout']): string {
  const { databases, rateLimits, chains, sales, tasks, metadata, unrecordedCollections, unavailable } = status;
  const sections = [
    describeProcesses(status.processes ?? [], stdout),
    describeDatabases(databases ?? {}, stdout),
    describeSchemas(status.schemas ?? {}),
    describeWriteFailures(status.writeFailures ?? {}),
    describeIndex(databases?.['indexer']),
    rateLimits ? `rate limits: ${RATE_LIMITS[rateLimits.counted]}\n` : '',
    describeChains(chains ?? [], stdout),
    describeSales(sales ?? []),
    status.webhooks ? describeWebhooks(status.webhooks) : '',
    unavailable.includes('backup') ? '' : describeBackup(status.backup),
    describeTasks(tasks ?? [], stdout),
    describeUpstreams(tasks ?? [], stdout),
    describeMetadata(metadata ?? [], stdout),
    describeProblems(tasks ?? [], chains ?? []),
    describeUnrecorded(unrecordedCollections ?? []),
    unavailable.length > 0 ? `cannot be read now: ${unavailable.join(', ')}\n` : '',
  ];
  return sections.filter((section) => section !== '').join('\n');
}

const RATE_LIMITS = {
  shared: 'counted with the other nodes through Redis',
  alone: 'counted by this process alone, because Redis is unavailable',
} as const;

type Stdout = CommandIo['stdout'];

function tableOf(heads: readonly string[], rows: readonly (readonly Cell[])[], stdout: Stdout): string {
  return rows.length > 0 ? formatTable(heads, rows, stdout) : '';
}

function describeProcesses(processes: readonly ProcessReport[], stdout: Stdout): string {
  const rows = processes.map(({ process, state, uptimeSeconds, restarts }) => [
    String(process),
    state,
    uptimeSeconds === null ? '' : toSpan(uptimeSeconds),
    String(restarts),
  ]);
  return tableOf(['process', 'state', 'serving for', 'restarts'], rows, stdout);
}

function describeDatabases(databases: Readonly<Record<string, DatabaseStatus>>, stdout: Stdout): string {
  const rows = Object.entries(databases).map(([name, { engine, answers, latencyMs }]) => [
    name,
    engine,
    answers ? `responds in ${latencyMs} ms` : 'does not respond',
  ]);
  return tableOf(['database', 'engine', 'state'], rows, stdout);
}

function describeSchemas(schemas: NonNullable<Status['schemas']>): string {
  const lines = Object.entries(schemas).flatMap(([name, { pending, mistake }]) => [
    ...(mistake === null ? [] : [`the schema ${name} does not fit this program: ${mistake}\n`]),
    ...(pending.length === 0
      ? []
      : [
          `the schema ${name} lacks migrations (${pending.length}), so not everything can be read: run mercat migrate, or start the service\n`,
        ]),
  ]);
  return lines.join('');
}

/** The error is repeated, because `databases` is public and must not contain it. */
function describeWriteFailures(failures: NonNullable<Status['writeFailures']>): string {
  const lines = Object.entries(failures).map(([name, failure]) =>
    failure ? `${name} accepts no writes since ${new Date(failure.since).toISOString()}: ${failure.error}\n` : '',
  );
  return lines.join('');
}

/** The workers are named by their ids in pg_dist_node, because the status must not contain hosts. */
function describeIndex({ cluster }: Partial<DatabaseStatus> = {}): string {
  const workers = cluster?.workers.map(({ node, answers }) => `${node} ${answers ? 'responds' : 'does not respond'}`);
  return workers
    ? `the indexer database is the coordinator of a Citus cluster: worker ${workers.join(', worker ')}\n`
    : '';
}

function describeChains(chains: readonly ChainStatus[], stdout: Stdout): string {
  const rows = chains.map(({ chain, mode, block, lagSeconds, reorganisations, collections, endpoints }) => [
    chain,
    mode,
    block,
    lagSeconds === null ? null : toSpan(lagSeconds),
    reorganisations,
    collections.live,
    collections.catchingUp,
    endpoints
      .map(({ position, state, lag, failures }) => {
        const behind = lag ? `, ${lag} blocks behind` : '';
        return `${position + 1} ${state}${behind}${failures > 0 ? `, ${failures} failures` : ''}`;
      })
      .join('; '),
  ]);
  const heads = ['chain', 'mode', 'block', 'age', 'reorgs', 'collections', 'catching up', 'endpoints'];
  return tableOf(heads, rows, stdout);
}

function describeSales(sales: readonly SalesStatus[]): string {
  if (sales.length === 0) return '';
  const counts = sales.map(({ chain, withoutNativePrice }) => `${chain} ${withoutNativePrice}`);
  return `sales that are in no volume, because they have no native price: ${counts.join(', ')}\n`;
}

function describeWebhooks(queue: DeliveryQueue): string {
  const { pending, due, events, oldestDueAgeSeconds, failingWebhooks, failingDue } = queue;
  const late = oldestDueAgeSeconds > 0 ? `, the worker is ${toSpan(oldestDueAgeSeconds)} late` : '';
  const failing =
    failingWebhooks > 0
      ? `${failingWebhooks} webhooks fail, for which ${failingDue} deliveries are due: see mercat webhooks status\n`
      : '';
  return `webhooks: ${pending} deliveries wait, ${due} of them are due, ${events} events have no deliveries yet${late}\n${failing}`;
}

function describeBackup(backup: LastBackup | null): string {
  return backup
    ? `last backup: ${backup.at}, ${toSpan(backup.ageSeconds)} ago\n`
    : 'last backup: none was made with mercat backup\n';
}

const TASK_STYLES: Partial<Record<TaskStatus['state'], Style>> = {
  ok: 'green',
  partial: 'yellow',
  failing: 'red',
  overdue: 'red',
};

function describeTasks(tasks: readonly TaskStatus[], stdout: Stdout): string {
  const rows = tasks.map(({ name, state, lagSeconds, periodSeconds, rows: counts, progress }) => [
    name,
    state,
    lagSeconds === null ? 'never' : `${toSpan(lagSeconds)} ago`,
    toSpan(periodSeconds),
    counts.read,
    counts.changed,
    counts.refused,
    counts.retired,
    progress ? `${progress.done}${progress.total === null ? '' : ` of ${progress.total}`} ${progress.what}` : '',
  ]);
  const heads = ['task', 'state', 'last success', 'period', 'read', 'changed', 'refused', 'retired', 'progress'];
  const [head, ...lines] = tableOf(heads, rows, stdout).split('\n');
  const styled = lines.map((line, index) => styleState(line, tasks[index]?.state, stdout));
  return rows.length > 0 ? [head, ...styled].join('\n') : '';
}

/** Styles the state in an aligned line. The line is aligned before it is styled, because escape sequences have characters but no width. */
function styleState(line: string, state: TaskStatus['state'] | undefined, stdout: Stdout): string {
  const style = state && TASK_STYLES[state];
  return style ? line.replace(`  ${state}`, `  ${emphasize(style, state, stdout)}`) : line;
}

function describeUpstreams(tasks: readonly TaskStatus[], stdout: Stdout): string {
  const rows = tasks.flatMap((task) => task.upstreams.map((upstream) => toUpstreamRow(task.name, upstream)));
  const heads = ['source', 'task', 'breaker', 'budget left', 'per hour', 'requests', 'retries', 'last failure'];
  return tableOf(heads, rows, stdout);
}

function toUpstreamRow(task: string, upstream: UpstreamSummary): Cell[] {
  const { name, breaker, budget, requests, retries, lastFailure } = upstream;
  return [name, task, breaker, budget?.left ?? null, budget?.perHour ?? null, requests, retries, lastFailure];
}

function describeMetadata(collections: readonly CollectionMetadataStatus[], stdout: Stdout): string {
  const rows = collections.map(({ collectionId, tokens, waiting, failures, collectionFailure }) => {
    const failed = failures.reduce((sum, failure) => sum + failure.tokens, 0);
    const reasons = failures.map((failure) => `${failure.tokens} ${describeFailure(failure)}`);
    const ofCollection = collectionFailure ? [`the collection: ${describeFailure(collectionFailure)}`] : [];
    return [collectionId, tokens, tokens - waiting - failed, waiting, failed, [...reasons, ...ofCollection].join('; ')];
  });
  return tableOf(['metadata', 'tokens', 'read', 'waiting', 'failed', 'reasons'], rows, stdout);
}

function describeFailure({ reason, host }: { reason: string; host: string | null }): string {
  return host === null ? reason : `${reason} (${printable(host)})`;
}

function describeProblems(tasks: readonly TaskStatus[], chains: readonly ChainStatus[]): string {
  const lines = [
    ...chains.flatMap(({ chain, note, comparison, unread, toReadAgain }) => [
      ...(note === null ? [] : [`${chain}: ${note}`]),
      ...(comparison?.disputed
        ? [`${chain}: ${describeDispute(comparison.disputed)}: ${describeDisputeRemedy(chain)}`]
        : []),
      ...(comparison?.compared === 'one-endpoint' ? [describeSingleEndpoint(chain)] : []),
      ...(toReadAgain.length > 0 ? [describeRereads(chain, toReadAgain)] : []),
      ...(unread.length > 0 ? [describeUnread(chain, unread)] : []),
    ]),
    ...tasks.flatMap(({ name, failures, lastError, problems = [], refusals = [] }) => [
      ...(failures > 0 ? [`${name}: failed ${failures} times in a row: ${lastError ?? ''}`] : []),
      ...problems.map((problem) => `${name}: ${problem}`),
      ...refusals.map(({ reason, count }) => `${name}: ${count} refused: ${reason}`),
    ]),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function describeUnread(chain: string, unread: ChainStatus['unread']): string {
  const counts = unread.map(({ protocol, logs }) => `${protocol} ${logs}`);
  return `${chain}: logs of settlement contracts that could not be read since the process started: ${counts.join(', ')}`;
}

function describeRereads(chain: string, ranges: ChainStatus['toReadAgain']): string {
  const [since] = ranges.map((range) => range.since).sort();
  const named = describeRanges(ranges);
  return `${chain}: stored blocks that are read again when two endpoints respond, since ${since ?? ''}: ${named}`;
}

function describeSingleEndpoint(chain: string): string {
  return `${chain}: its data comes from one endpoint, and nothing is compared. Add a second endpoint to ${toChainSetting(chain)}`;
}

function describeUnrecorded(ids: readonly string[]): string {
  const lines = ids.map((id) => `${printable(id)} has rows and no collection record, so it is not served\n`);
  return lines.join('');
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** A duration in the largest unit that fits into it at least twice, such as `90 min` or `2 h`. */
function toSpan(seconds: number): string {
  const [unit, size] = UNITS.find(([, unitSeconds]) => seconds >= 2 * unitSeconds) ?? ['s', 1];
  return `${Math.round(seconds / size)} ${unit}`;
}
