// Describes what is wrong with a service. The worst problems come first.

import type { ChainState, ServiceState, SourceState, TaskState } from '../data/service-state.ts';
import { formatElapsed } from '../format/time.ts';
import { texts } from './texts.ts';

export type Severity = 'bad' | 'warn';

export type Problem = {
  /** `bad`: something fails now. `warn`: the service works, but a part of it is limited or late. */
  severity: Severity;
  title: string;
  meaning: string;
  action: string;
  /** The time at which the problem began (ISO 8601). Null if the state of the service does not contain it. */
  since: string | null;
};

type Words = Pick<Problem, 'title' | 'meaning' | 'action'>;

const t = texts.problem;
/** A chain whose last read block is more than this many blocks behind the newest block is a problem. Normally it is a few blocks behind. */
const BLOCKS_BEHIND_MAX = 50;
/** A delivery that has been due for longer than this is a problem. A worker that keeps up sends a delivery within seconds. */
const LATE_DELIVERY_S = 60;
const FAILING_TOGETHER = 3;
const count = new Intl.NumberFormat('en');

export function findProblems(state: ServiceState, nameOf: (chain: string) => string): Problem[] {
  const sources = listSources(state.tasks ?? []);
  const problems = [
    ...findDatabaseProblems(state),
    ...state.unavailable.map((section) => bad(t.unavailable(section))),
    ...(state.chains ?? []).flatMap((chain) => findChainProblems(chain, nameOf(chain.chain))),
    ...findTaskProblems(state.tasks ?? []),
    ...sources.flatMap(findSourceProblems),
    ...findQueueProblems(state.webhooks),
    ...(state.rateLimits?.counted === 'alone' ? [warn(t.redis)] : []),
  ];
  return [
    ...problems.filter(({ severity }) => severity === 'bad'),
    ...problems.filter(({ severity }) => severity === 'warn'),
  ];
}

/** Lists each source once, because several tasks may read the same source. */
export function listSources(tasks: readonly TaskState[]): SourceState[] {
  return [...new Map(tasks.flatMap(({ upstreams }) => upstreams.map((source) => [source.name, source]))).values()];
}

/** If the primary fails, only its failure is reported, because the indexer may be the same database. */
function findDatabaseProblems({ databases }: ServiceState): Problem[] {
  if (databases?.['main']?.answers === false) return [bad(t.main)];
  return databases?.['indexer']?.answers === false ? [bad(t.indexer)] : [];
}

export function severityOfChain(state: ChainState): Severity | null {
  return severityOf(findChainProblems(state, state.chain));
}

/** The severity of the worst problem. Null without a problem. */
export function severityOf(problems: readonly Problem[]): Severity | null {
  return problems.some(({ severity }) => severity === 'bad') ? 'bad' : (problems[0]?.severity ?? null);
}

function findChainProblems(state: ChainState, name: string): Problem[] {
  const { mode, endpoints, note, comparison, headDistance } = state;
  if (mode !== 'live') return [];
  const failing = endpoints.filter((endpoint) => endpoint.state === 'resting' || endpoint.state === 'wrong-chain');
  const disputed = comparison?.disputed ?? null;
  const problems: Problem[] = [];
  if (note !== null) problems.push(bad(t.stopped(name, `${note.charAt(0).toUpperCase()}${note.slice(1)}`)));
  if (disputed !== null) {
    const subject = t.disputes[disputed.kind]?.(count.format(disputed.block)) ?? count.format(disputed.block);
    problems.push(bad(t.disputed(name, subject), disputed.since));
  }
  if (failing.length > 0 && failing.length === endpoints.length) problems.push(bad(t.noEndpoint(name)));
  else if (failing.length > 0) problems.push(warn(t.someEndpoints(name, failing.length, endpoints.length)));
  if (headDistance !== null && headDistance > BLOCKS_BEHIND_MAX)
    problems.push(warn(t.behind(name, count.format(headDistance)), state.blockTime));
  if (comparison?.compared === 'one-endpoint') problems.push(warn(t.oneEndpoint(name)));
  return problems;
}

/** Tasks that fail at the same time probably have one cause. `FAILING_TOGETHER` or more failing tasks are reported as one problem. */
function findTaskProblems(tasks: readonly TaskState[]): Problem[] {
  const failing = tasks.filter(({ state }) => state === 'failing');
  if (failing.length < FAILING_TOGETHER) return tasks.flatMap(findProblemOfTask);
  const [earliest = null] = failing.flatMap(({ lastSuccess }) => lastSuccess ?? []).sort();
  return [
    bad(t.failingTogether(failing.map(({ name }) => name).join(', ')), earliest),
    ...tasks.filter((task) => !failing.includes(task)).flatMap(findProblemOfTask),
  ];
}

export function findProblemOfTask({ name, state, failures, lastSuccess }: TaskState): Problem[] {
  if (state === 'failing') return [bad(t.failing(name, failures), lastSuccess)];
  if (state === 'overdue') return [bad(t.overdue(name), lastSuccess)];
  return state === 'partial' ? [warn(t.partial(name))] : [];
}

export function findSourceProblems({ name, breaker, budget, lastFailure }: SourceState): Problem[] {
  if (breaker !== 'closed') return [warn(t.paused(name, lastFailure === null ? '' : ` (${lastFailure})`))];
  return budget !== null && budget.left <= 0 ? [warn(t.spent(name))] : [];
}

function findQueueProblems(queue: ServiceState['webhooks']): Problem[] {
  const lateness = queue?.oldestDueAgeSeconds ?? 0;
  return lateness > LATE_DELIVERY_S ? [warn(t.deliveries(formatElapsed(lateness)))] : [];
}

function bad(words: Words, since: string | null = null): Problem {
  return { severity: 'bad', ...words, since };
}

function warn(words: Words, since: string | null = null): Problem {
  return { severity: 'warn', ...words, since };
}
