// The columns of the tables on the page about the state of the service.

import type { ChainState, DatabaseState, MetadataState, SourceState, TaskState } from '../data/service-state.ts';
import { formatCount } from '../format/amount.ts';
import { ChainMark } from '../parts/chain-mark.tsx';
import type { Column } from '../parts/data-table.tsx';
import { Flash } from '../parts/flash.tsx';
import { formatPeriod } from '../format/time.ts';
import { Time } from '../parts/time.tsx';
import { Unknown } from '../parts/unknown.tsx';
import { texts } from '../texts.ts';

const t = texts.service;

export const DATABASE_COLUMNS: readonly Column<DatabaseState & { name: string }>[] = [
  {
    id: 'name',
    head: t.database,
    width: 'minmax(120px, 1fr)',
    place: 'top-left',
    cell: ({ name }) => t.databaseNames[name] ?? name,
  },
  { id: 'engine', head: t.engine, width: 'minmax(120px, 1fr)', place: 'bottom-left', cell: ({ engine }) => engine },
  {
    id: 'state',
    head: t.state,
    width: 'minmax(160px, 2fr)',
    place: 'top-right',
    cell: ({ answers, latencyMs }) =>
      answers ? (
        <span class="badge badge-good">{t.responds(String(latencyMs))}</span>
      ) : (
        <span class="badge badge-bad">{t.silent}</span>
      ),
  },
];

const FAILED_ENDPOINTS: ReadonlySet<string> = new Set(['resting', 'wrong-chain']);

export const CHAIN_COLUMNS: readonly Column<ChainState>[] = [
  {
    id: 'chain',
    head: t.chain,
    width: 'minmax(110px, 1.2fr)',
    place: 'top-left',
    cell: ({ chain }) => <ChainMark chain={chain} />,
  },
  {
    id: 'mode',
    head: t.mode,
    width: 'minmax(72px, 0.6fr)',
    from: 'tablet',
    cell: ({ mode }) => <span class={mode === 'live' ? 'badge badge-good' : 'badge'}>{t.modes[mode] ?? mode}</span>,
  },
  {
    id: 'block',
    head: t.block,
    width: 'minmax(96px, 1fr)',
    isNumber: true,
    place: 'bottom-right',
    cell: ({ block }) => (block === null ? <Unknown reason={t.blockUnknown} /> : formatCount(block)),
  },
  {
    id: 'distance',
    head: t.distance,
    width: 'minmax(88px, 0.8fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ headDistance }) =>
      headDistance === null ? (
        <Unknown reason={t.distanceUnknown} />
      ) : (
        <Flash value={headDistance}>{t.distanceOf(formatCount(headDistance))}</Flash>
      ),
  },
  {
    id: 'age',
    head: t.blockAge,
    width: 'minmax(64px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ blockTime }) => (blockTime === null ? <Unknown reason={t.blockUnknown} /> : <Time at={blockTime} />),
  },
  {
    id: 'reorganisations',
    head: t.reorganisations,
    width: 'minmax(64px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ reorganisations }) => formatCount(reorganisations),
  },
  {
    id: 'collections',
    head: t.collections,
    width: 'minmax(96px, 1fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ collections: { live, catchingUp } }) => t.collectionsOf(formatCount(live), catchingUp),
  },
  {
    id: 'endpoints',
    head: t.endpoints,
    width: 'minmax(140px, 2fr)',
    place: 'bottom-left',
    cell: ({ endpoints }) => (
      <span class="truncate block">
        {endpoints.map(({ position, state }, index) => (
          <span key={position} class={FAILED_ENDPOINTS.has(state) ? 'bad' : undefined}>
            {index > 0 && ', '}
            {position + 1} {t.endpointStates[state] ?? state}
          </span>
        ))}
      </span>
    ),
  },
];

const TASK_BADGES: Readonly<Record<string, string>> = {
  ok: 'badge badge-good',
  partial: 'badge badge-warn',
  failing: 'badge badge-bad',
  overdue: 'badge badge-bad',
};

export const TASK_COLUMNS: readonly Column<TaskState>[] = [
  {
    id: 'task',
    head: t.task,
    width: 'minmax(160px, 2fr)',
    place: 'top-left',
    cell: ({ name }) => <span class="truncate block">{name}</span>,
  },
  {
    id: 'state',
    head: t.state,
    width: 'minmax(96px, 0.8fr)',
    place: 'top-right',
    cell: ({ state }) => <span class={TASK_BADGES[state] ?? 'badge'}>{t.taskStates[state] ?? state}</span>,
  },
  {
    id: 'success',
    head: t.lastSuccess,
    width: 'minmax(88px, 0.8fr)',
    isNumber: true,
    place: 'bottom-left',
    cell: ({ lastSuccess }) => (lastSuccess === null ? <Unknown reason={t.never} /> : <Time at={lastSuccess} />),
  },
  {
    id: 'period',
    head: t.period,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ periodSeconds }) => formatPeriod(periodSeconds),
  },
  {
    id: 'rows',
    head: t.rows,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ rows }) => formatCount(rows.read),
  },
  {
    id: 'changed',
    head: t.changed,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ rows }) => formatCount(rows.changed),
  },
  {
    id: 'rejected',
    head: t.rejected,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ rows }) => formatCount(rows.refused),
  },
];

/** Whether this process has sent no request to the source, so that it is not known whether the source works. */
export function isUnused({ breaker, requests }: SourceState): boolean {
  return breaker === 'closed' && requests === 0;
}

const BREAKER_BADGES: Readonly<Record<string, string>> = {
  closed: 'badge-good',
  open: 'badge-bad',
  trial: 'badge-warn',
};

export const SOURCE_COLUMNS: readonly Column<SourceState>[] = [
  {
    id: 'source',
    head: t.source,
    width: 'minmax(140px, 2fr)',
    place: 'top-left',
    cell: ({ name }) => <span class="truncate block">{name}</span>,
  },
  {
    id: 'state',
    head: t.state,
    width: 'minmax(88px, 0.8fr)',
    place: 'top-right',
    cell: (source) => {
      const { breaker } = source;
      if (isUnused(source)) return <span class="badge">{t.notUsed}</span>;
      return <span class={`badge ${BREAKER_BADGES[breaker] ?? 'badge-warn'}`}>{t.breakers[breaker] ?? breaker}</span>;
    },
  },
  {
    id: 'budget',
    head: t.budget,
    width: 'minmax(140px, 1.2fr)',
    isNumber: true,
    place: 'bottom-left',
    cell: ({ budget }) =>
      budget === null ? (
        <Unknown reason={t.noBudget} />
      ) : (
        t.budgetOf(formatCount(budget.left), formatCount(budget.perHour))
      ),
  },
  {
    id: 'requests',
    head: t.requests,
    width: 'minmax(80px, 0.7fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ requests }) => formatCount(requests),
  },
  {
    id: 'retries',
    head: t.retries,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ retries }) => formatCount(retries),
  },
  {
    id: 'unsent',
    head: t.unsent,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ refused }) => formatCount(refused),
  },
  {
    id: 'failure',
    head: t.lastFailure,
    width: 'minmax(110px, 1fr)',
    place: 'bottom-right',
    cell: ({ breaker, lastFailure }) =>
      lastFailure === null ? (
        <Unknown reason={t.noFailure} />
      ) : (
        <span class={breaker === 'closed' ? undefined : 'bad'}>{lastFailure}</span>
      ),
  },
];

export const METADATA_COLUMNS: readonly Column<MetadataState>[] = [
  {
    id: 'collection',
    head: texts.columns.collection,
    width: 'minmax(160px, 2fr)',
    place: 'top-left',
    cell: ({ collectionId }) => <span class="truncate block">{collectionId}</span>,
  },
  {
    id: 'tokens',
    head: t.metadataTokens,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ tokens }) => formatCount(tokens),
  },
  {
    id: 'waiting',
    head: t.metadataWaiting,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ waiting }) => formatCount(waiting),
  },
  {
    id: 'failed',
    head: t.metadataFailed,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    place: 'bottom-right',
    cell: ({ failed }) => formatCount(failed),
  },
  {
    id: 'reasons',
    head: t.lastFailure,
    width: 'minmax(140px, 1.6fr)',
    place: 'bottom-left',
    cell: ({ reasons }) =>
      reasons.length === 0 ? (
        <Unknown reason={t.noFailure} />
      ) : (
        <span class="truncate block">{reasons.join(', ')}</span>
      ),
  },
];
