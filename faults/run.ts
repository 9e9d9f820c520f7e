// Runs one fault on one engine, from an empty platform to the verdict.

import { AssertionError } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { canStartPostgres } from '../test/support/engines/postgres-server.ts';
import { canStartRedis } from '../test/support/engines/redis-server.ts';
import { DeadlineSignal } from '../src/platform/resilience/deadline.ts';
import { canStartBalancer } from './balancer.ts';
import { checkAfterFault } from './checks.ts';
import { findFaketime } from './faketime.ts';
import type { Fault, FaultContext, Need } from './fault.ts';
import type { FaultEngine, Platform } from './platform.ts';
import { RECOVERY_LIMIT_MS, startPlatform } from './platform.ts';
import { Program } from './program.ts';
import { hasHistory } from './versions.ts';

/** The default time limit of a fault. On an idle machine a fault takes one to three minutes. */
const FAULT_LIMIT_MS = 30 * 60_000;

export type Verdict = 'kept' | 'broken' | 'skipped';

export type Result = {
  fault: Fault;
  engine: FaultEngine;
  verdict: Verdict;
  /** What was seen, or why the fault was skipped. */
  facts: readonly string[];
  /** The promises that were not kept. */
  broken: readonly string[];
  ms: number;
};

/** `limitMs`: the time limit for the recovery of the platform. `signal` ends the fault early. */
export async function runFault(
  fault: Fault,
  engine: FaultEngine,
  { limitMs = RECOVERY_LIMIT_MS, signal }: { limitMs?: number; signal?: AbortSignal } = {},
): Promise<Result> {
  const startedAt = performance.now();
  const finish = (verdict: Verdict, facts: readonly string[], broken: readonly string[] = []): Result => {
    return { fault, engine, verdict, facts, broken, ms: performance.now() - startedAt };
  };
  const obstacle = findObstacle(fault, engine);
  if (obstacle !== null) return finish('skipped', [obstacle]);
  const undo: (() => Promise<unknown> | void)[] = [];
  const onEnd: FaultContext['onEnd'] = (one) => void undo.push(one);
  let platform: Platform | null = null;
  const start: FaultContext['start'] = async (options = {}) => {
    platform = await startPlatform(engine, options, onEnd);
    return platform;
  };
  const newCommand: FaultContext['newCommand'] = (of, args, settings = {}) => {
    const command = new Program(args, { PRICE_SOURCES: 'none', ...of?.databaseSettings, ...settings });
    onEnd(() => command.end('SIGKILL'));
    return command;
  };
  try {
    const facts = await withinLimit(fault.run({ engine, start, newCommand, onEnd }), fault, signal);
    if (platform === null) return finish('kept', facts);
    const checked = await withinLimit(checkAfterFault(platform, fault, limitMs), fault, signal);
    return finish(checked.broken.length === 0 ? 'kept' : 'broken', [...facts, ...checked.facts], checked.broken);
  } catch (error) {
    const { message, stack } = error as Error;
    const written = platform === null ? [] : (platform as Platform).service.lines.slice(-5);
    return finish('broken', written, [error instanceof AssertionError ? message : String(stack)]);
  } finally {
    for (const one of undo.toReversed()) await Promise.try(one).catch(reportUndo);
  }
}

/** A part that cannot be ended must not prevent the other parts from being ended. */
function reportUndo(error: unknown): void {
  process.stderr.write(`  after the fault: ${String(error)}\n`);
}

/** Ends a fault that waits for ever or is interrupted. Its processes are then killed, and the next fault runs. */
async function withinLimit<T>(work: Promise<T>, { limitMs = FAULT_LIMIT_MS }: Fault, signal?: AbortSignal): Promise<T> {
  using deadline = new DeadlineSignal(limitMs, ...(signal ? [signal] : []));
  const ended = new Promise<never>((_, reject) => {
    const message = () => (deadline.hasPassed ? `the fault did not end within ${limitMs / 60_000} min` : 'interrupted');
    deadline.signal.addEventListener('abort', () => reject(new AssertionError({ message: message() })));
  });
  // Without `await`, the function would return at once, and `using` would end the deadline.
  return await Promise.race([work, ended]);
}

const OBSTACLES: Readonly<Record<Need, () => string | null>> = {
  redis: () => (canStartRedis() ? null : 'redis-server is not on this machine'),
  haproxy: () => (canStartBalancer() ? null : 'haproxy is not on this machine'),
  faketime: () => (findFaketime() === null ? 'libfaketime is not on this machine' : null),
  git: () => (hasHistory() ? null : 'the history of the repository is not on this machine'),
  root: () => (process.getuid?.() === 0 && hasMount() ? null : 'mounting a file system needs root and mount(8)'),
};

/** Why the fault cannot be tried on this machine. Null if it can. */
function findObstacle({ needs = [] }: Fault, engine: FaultEngine): string | null {
  if (engine === 'postgresql' && !canStartPostgres()) return 'PostgreSQL is not on this machine';
  return needs.map((need) => OBSTACLES[need]()).find((obstacle) => obstacle !== null) ?? null;
}

const hasMount = (): boolean => spawnSync('mount', ['--version']).status === 0;
