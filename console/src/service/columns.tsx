// The columns of the tables on the page about the state of the service.

import type { ChainState, DatabaseState, MetadataState, SourceState, TaskState } from '../data/service-state.ts';
import { formatCount } from '../format/amount.ts';
import { ChainMark } from '../parts/chain-mark.tsx';
import type { Column } from '../parts/data-table.tsx';
import { Flash } from '../parts/flash.tsx';
import { formatPeriod } from '../format/time.ts';
import { Time } from '../parts/time.tsx';
import { Unknown } from '../parts/unknown.tsx';
import { texts as shared } from '../texts.ts';
import { texts } from './texts.ts';

export const DATABASE_COLUMNS: readonly Column<DatabaseState & { name: string }>[] = [
  {
    id: 'name',
    head: texts.database,
    width: 'minmax(120px, 1fr)',
    place: 'top-left',
    cell: ({ name }) => texts.databaseNames[name] ?? name,
  },
  { id: 'engine', head: texts.engine, width: 'minmax(120px, 1fr)', place: 'bottom-left', cell: ({ engine }) => engine },
  {
    id: 'state',
    head: texts.state,
    width: 'minmax(160px, 2fr)',
    place: 'top-right',
    cell: ({ answers, latencyMs }) =>
      answers ? (
        <span class="badge badge-good">{texts.responds(String(latencyMs))}</span>
      ) : (
        <span class="badge badge-bad">{texts.silent}</span>
      ),
  },
];

const FAILED_ENDPOINTS: ReadonlySet<string> = new Set(['resting', 'wrong-chain']);

export const CHAIN_COLUMNS: readonly Column<ChainState>[] = [
  {
    id: 'chain',
    head: texts.chain,
    width: 'minmax(110px, 1.2fr)',
    place: 'top-left',
    cell: ({ chain }) => <ChainMark chain={chain} />,
  },
  {
    id: 'mode',
    head: texts.mode,
    width: 'minmax(72px, 0.6fr)',
    from: 'tablet',
    cell: ({ mode }) => <span class={mode === 'live' ? 'badge badge-good' : 'badge'}>{texts.modes[mode] ?? mode}</span>,
  },
  {
    id: 'block',
    head: texts.block,
    width: 'minmax(96px, 1fr)',
    isNumber: true,
    place: 'bottom-right',
    cell: ({ block }) => (block === null ? <Unknown reason={texts.blockUnknown} /> : formatCount(block)),
  },
  {
    id: 'distance',
    head: texts.distance,
    width: 'minmax(88px, 0.8fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ headDistance }) =>
      headDistance === null ? (
        <Unknown reason={texts.distanceUnknown} />
      ) : (
        <Flash value={headDistance}>{texts.distanceOf(formatCount(headDistance))}</Flash>
      ),
  },
  {
    id: 'age',
    head: texts.blockAge,
    width: 'minmax(64px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ blockTime }) => (blockTime === null ? <Unknown reason={texts.blockUnknown} /> : <Time at={blockTime} />),
  },
  {
    id: 'reorganisations',
    head: texts.reorganisations,
    width: 'minmax(64px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ reorganisations }) => formatCount(reorganisations),
  },
  {
    id: 'collections',
    head: texts.collections,
    width: 'minmax(96px, 1fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ collections: { live, catchingUp } }) => texts.collectionsOf(formatCount(live), catchingUp),
  },
  {
    id: 'endpoints',
    head: texts.endpoints,
    width: 'minmax(140px, 2fr)',
    place: 'bottom-left',
    cell: ({ endpoints }) => (
      <span class="truncate">
        {endpoints.map(({ position, state }, index) => (
          <span key={position} class={FAILED_ENDPOINTS.has(state) ? 'bad' : undefined}>
            {index > 0 && ', '}
            {position + 1} {texts.endpointStates[state] ?? state}
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
    head: texts.task,
    width: 'minmax(160px, 2fr)',
    place: 'top-left',
    cell: ({ name }) => <span class="truncate">{name}</span>,
  },
  {
    id: 'state',
    head: texts.state,
    width: 'minmax(96px, 0.8fr)',
    place: 'top-right',
    cell: ({ state }) => <span class={TASK_BADGES[state] ?? 'badge'}>{texts.taskStates[state] ?? state}</span>,
  },
  {
    id: 'success',
    head: texts.lastSuccess,
    width: 'minmax(88px, 0.8fr)',
    isNumber: true,
    place: 'bottom-left',
    cell: ({ lastSuccess }) => (lastSuccess === null ? <Unknown reason={texts.never} /> : <Time at={lastSuccess} />),
  },
  {
    id: 'period',
    head: texts.period,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ periodSeconds }) => formatPeriod(periodSeconds),
  },
  {
    id: 'rows',
    head: texts.rows,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ rows }) => formatCount(rows.read),
  },
  {
    id: 'changed',
    head: texts.changed,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ rows }) => formatCount(rows.changed),
  },
  {
    id: 'rejected',
    head: texts.rejected,
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
    head: texts.source,
    width: 'minmax(140px, 2fr)',
    place: 'top-left',
    cell: ({ name }) => <span class="truncate">{name}</span>,
  },
  {
    id: 'state',
    head: texts.state,
    width: 'minmax(88px, 0.8fr)',
    place: 'top-right',
    cell: (source) => {
      const { breaker } = source;
      if (isUnused(source)) return <span class="badge">{texts.notUsed}</span>;
      return (
        <span class={`badge ${BREAKER_BADGES[breaker] ?? 'badge-warn'}`}>{texts.breakers[breaker] ?? breaker}</span>
      );
    },
  },
  {
    id: 'budget',
    head: texts.budget,
    width: 'minmax(140px, 1.2fr)',
    isNumber: true,
    place: 'bottom-left',
    cell: ({ budget }) =>
      budget === null ? (
        <Unknown reason={texts.noBudget} />
      ) : (
        texts.budgetOf(formatCount(budget.left), formatCount(budget.perHour))
      ),
  },
  {
    id: 'requests',
    head: texts.requests,
    width: 'minmax(80px, 0.7fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ requests }) => formatCount(requests),
  },
  {
    id: 'retries',
    head: texts.retries,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ retries }) => formatCount(retries),
  },
  {
    id: 'unsent',
    head: texts.unsent,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ refused }) => formatCount(refused),
  },
  {
    id: 'failure',
    head: texts.lastFailure,
    width: 'minmax(110px, 1fr)',
    place: 'bottom-right',
    cell: ({ breaker, lastFailure }) =>
      lastFailure === null ? (
        <Unknown reason={texts.noFailure} />
      ) : (
        <span class={breaker === 'closed' ? undefined : 'bad'}>{lastFailure}</span>
      ),
  },
];

export const METADATA_COLUMNS: readonly Column<MetadataState>[] = [
  {
    id: 'collection',
    head: shared.columns.collection,
    width: 'minmax(160px, 2fr)',
    place: 'top-left',
    cell: ({ collectionId }) => <span class="truncate">{collectionId}</span>,
  },
  {
    id: 'tokens',
    head: texts.metadataTokens,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ tokens }) => formatCount(tokens),
  },
  {
    id: 'waiting',
    head: texts.metadataWaiting,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ waiting }) => formatCount(waiting),
  },
  {
    id: 'failed',
    head: texts.metadataFailed,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    place: 'bottom-right',
    cell: ({ failed }) => formatCount(failed),
  },
  {
    id: 'reasons',
    head: texts.lastFailure,
    width: 'minmax(140px, 1.6fr)',
    place: 'bottom-left',
    cell: ({ reasons }) =>
      reasons.length === 0 ? <Unknown reason={texts.noFailure} /> : <span class="truncate">{reasons.join(', ')}</span>,
  },
];
