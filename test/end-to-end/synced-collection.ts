// Functions for tests of a service that follows a collection on a local chain and at marketplaces. A test runs the tasks of the service
// one at a time.

import assert from 'node:assert/strict';
import type { TestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';

const LIMIT_MS = 180_000;

/** Adds a collection, and waits until it has been read to the newest block. `sources` are the marketplaces that the service reads. */
export async function followCollection(
  service: TestService,
  { sources, input }: { sources: readonly string[]; input: Record<string, unknown> },
): Promise<void> {
  // Each task runs once when the service starts, before any collection is followed. During this run the task cannot be started
  // again.
  const areDone = async () => {
    const read = await Promise.all(sources.map((name) => service.operate('sync.read', { name })));
    const tasks: { lastEnded: string | null }[] = read.flatMap(({ body }) => body.result);
    return tasks.every(({ lastEnded }) => lastEnded !== null);
  };
  await until(areDone, LIMIT_MS, 'the first runs did not end');
  const added = await service.operate('collections.add', input);
  assert.equal(added.status, 200, JSON.stringify(added.body));
  const isLive = async () => {
    const { body } = await service.operate('collections.list', {});
    return body.result[0].state === 'live';
  };
  await until(isLive, LIMIT_MS, 'the collection did not catch up with its chain');
}

/** Runs a task once, as `mercat sync NAME --once` does. Returns its result. */
export async function runTask(
  service: TestService,
  name: string,
): Promise<{ state: string; problems: readonly string[] }> {
  const started = await service.operate('sync.start', { name });
  assert.equal(started.status, 200, JSON.stringify(started.body));
  const [before] = started.body.result;
  let task = before;
  const hasEnded = async () => {
    const { status, body } = await service.operate('sync.read', { name });
    // On a busy machine a read can exceed its deadline.
    if (status !== 200) return false;
    [task] = body.result;
    return task.lastEnded !== before.lastEnded && task.state !== 'running';
  };
  await until(hasEnded, LIMIT_MS, `${name} did not end`);
  return task;
}
