// The page for the operator of the service. It displays the problems first, then the state of each part. All of its data is public.

import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import type { ServiceState } from '../data/service-state.ts';
import { statusQuery } from '../data/status-query.ts';
import { formatCount } from '../format/amount.ts';
import { formatClock, formatElapsed } from '../format/time.ts';
import { chainName } from '../parts/chain-mark.tsx';
import { CheckIcon, WarningIcon } from '../parts/icons.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { ErrorPanel, PartSkeleton } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';
import { lostSince } from '../shell/connection.tsx';
import { usePageTitle } from '../shell/shell.tsx';
import { useStore } from '../shell/store.ts';
import { texts } from './texts.ts';
import {
  CHAIN_COLUMNS,
  DATABASE_COLUMNS,
  METADATA_COLUMNS,
  SOURCE_COLUMNS,
  TASK_COLUMNS,
  isUnused,
} from './columns.tsx';
import type { Problem } from './problems.ts';
import type { Severity } from './problems.ts';
import {
  findProblemOfTask,
  findProblems,
  findSourceProblems,
  listSources,
  severityOf,
  severityOfChain,
} from './problems.ts';

export function ServicePage() {
  usePageTitle(texts.title);
  const query = useQuery(statusQuery);
  const state = query.data;
  return (
    <div class="page">
      <div class="page-head">
        <h1>{texts.title}</h1>
        <p class="muted">
          {texts.lead} {state && <ReadAt at={state.at} />} {state?.version && texts.version(state.version)}
        </p>
      </div>
      {query.isPending && <PartSkeleton />}
      {query.isError && !state && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {state && <State state={state} />}
    </div>
  );
}

function ReadAt({ at }: { at: string }) {
  return (
    <>
      {texts.readAt} <Time at={at} />.
    </>
  );
}

function State({ state }: { state: ServiceState }) {
  const problems = findProblems(state, chainName);
  const { databases, chains, tasks, metadata } = state;
  return (
    <>
      <Problems problems={problems} />
      <Part
        title={texts.databases}
        columns={DATABASE_COLUMNS}
        rows={databases && Object.entries(databases).map(([name, database]) => ({ name, ...database }))}
        keyOf={({ name }) => name}
        severityOf={({ answers }) => (answers ? null : 'bad')}
      />
      <Part
        title={texts.chains}
        columns={CHAIN_COLUMNS}
        rows={chains}
        keyOf={({ chain }) => chain}
        severityOf={severityOfChain}
      >
        <p>{texts.noChains}</p>
        <p class="muted">{texts.noChainsHint}</p>
      </Part>
      <Part
        title={texts.sources}
        columns={SOURCE_COLUMNS}
        rows={tasks && listSources(tasks)}
        keyOf={({ name }) => name}
        severityOf={(source) => severityOf(findSourceProblems(source))}
        noteOf={(sources) => texts.unused(sources.filter(isUnused).length)}
      >
        <p>{texts.noSources}</p>
      </Part>
      <Part
        title={texts.tasks}
        columns={TASK_COLUMNS}
        rows={tasks}
        keyOf={({ name }) => name}
        severityOf={(task) => severityOf(findProblemOfTask(task))}
      >
        <p>{texts.noTasks}</p>
      </Part>
      {metadata && metadata.length > 0 && (
        <Part
          title={texts.metadata}
          columns={METADATA_COLUMNS}
          rows={metadata}
          keyOf={({ collectionId }) => collectionId}
          severityOf={({ failed }) => (failed === 0 ? null : 'bad')}
        />
      )}
      <TextPart title={texts.webhooks} text={describeQueue(state.webhooks)} />
      <TextPart title={texts.limits} text={describeLimits(state.rateLimits)} />
      {state.trading && <TextPart title={texts.trading} text={describeTrading(state.trading)} />}
    </>
  );
}

function Problems({ problems }: { problems: readonly Problem[] }) {
  const lost = useStore(lostSince);
  if (lost !== null) {
    return (
      <p class="note note-bad" role="status">
        <WarningIcon />
        <span>
          <strong>{texts.lost}</strong> {texts.lostHint(formatClock(lost))}
        </span>
      </p>
    );
  }
  if (problems.length === 0) {
    return (
      <div class="all-good" role="status">
        <CheckIcon />
        <p>
          <strong>{texts.good}</strong> {texts.goodHint}
        </p>
      </div>
    );
  }
  return (
    <section class="status-part" role="status">
      <h2>{texts.problems}</h2>
      <ul class="problems">
        {problems.map(({ severity, title, meaning, action, since }) => (
          <li key={title} class={`problem problem-${severity}`}>
            <WarningIcon />
            <div class="problem-text">
              <h3>{title}</h3>
              <p class="problem-action">
                <strong>{texts.toDo}</strong> {action}
              </p>
              <p class="muted">
                {meaning}{' '}
                {since !== null && (
                  <>
                    {texts.since} <Time at={since} />.
                  </>
                )}
              </p>
            </div>
          </li>
        ))}
      </ul>
      <p class="muted">{texts.operatorHint}</p>
    </section>
  );
}

type PartProps<Row> = {
  title: string;
  columns: readonly Column<Row>[];
  /** Null if the part cannot be read. */
  rows: readonly Row[] | null;
  keyOf: (row: Row) => string;
  /** Null for what works. These rows are folded, so that the others are seen. */
  severityOf: (row: Row) => Severity | null;
  /** What is said of the folded rows, after their number. */
  noteOf?: (rows: readonly Row[]) => string;
  /** What is displayed instead of an empty table. */
  children?: ComponentChildren;
};

function Part<Row>({ title, columns, rows, keyOf, severityOf, noteOf, children }: PartProps<Row>) {
  const failing = rows?.filter((row) => severityOf(row) !== null) ?? [];
  const healthy = rows?.filter((row) => severityOf(row) === null) ?? [];
  const isBad = failing.some((row) => severityOf(row) === 'bad');
  return (
    <section class="status-part">
      <h2>{title}</h2>
      {rows === null && <p class="status-empty status-unread">{texts.unread}</p>}
      {rows?.length === 0 && <div class="status-empty">{children}</div>}
      {failing.length > 0 && (
        <div class={isBad ? 'status-failing status-bad' : 'status-failing'}>
          <DataTable label={texts.failingOf(title)} columns={columns} rows={failing} keyOf={keyOf} />
        </div>
      )}
      {healthy.length > 0 && (
        <details class="status-healthy">
          <summary>
            <CheckIcon />
            {texts.healthy(healthy.length, failing.length)}
            {noteOf?.(healthy)}
          </summary>
          <DataTable label={title} columns={columns} rows={healthy} keyOf={keyOf} />
        </details>
      )}
    </section>
  );
}

function TextPart({ title, text }: { title: string; text: string }) {
  return (
    <section class="status-part">
      <h2>{title}</h2>
      <p class="status-empty">{text}</p>
    </section>
  );
}

function describeQueue(queue: ServiceState['webhooks']): string {
  if (!queue) return texts.unread;
  const { pending, due, events, oldestDueAgeSeconds } = queue;
  if (pending + events === 0) return texts.webhooksEmpty;
  const depth = texts.webhooksOf(formatCount(pending), formatCount(due), formatCount(events));
  return due === 0 ? depth : `${depth} ${texts.webhooksOldest(formatElapsed(oldestDueAgeSeconds))}`;
}

function describeTrading(trading: NonNullable<ServiceState['trading']>): string {
  return texts.tradingOf(trading.map(({ chain }) => chainName(chain)).join(', '));
}

function describeLimits(limits: ServiceState['rateLimits']): string {
  if (limits === undefined) return texts.limitsAlone;
  if (limits === null) return texts.unread;
  return limits.counted === 'shared' ? texts.limitsShared : texts.limitsLost;
}
