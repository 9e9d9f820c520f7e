// The task that mirrors the listings of the example marketplace.

import {
  concludeListings,
  createFollowedTask,
  createTaskUpstream,
} from '../../../../src/sources/upstreams/followed-task.ts';
import type { Task } from '../../../../src/platform/tasks/task.ts';
import type { UpstreamContext } from '../../../../src/sources/upstreams/context.ts';
import type { UpstreamPace } from '../../../../src/sources/upstreams/upstream-client.ts';
import { walkListings } from './client.ts';
import { NAME } from './mapper.ts';
import type { ExampleAccess } from './settings.ts';

export function createExampleTasks(context: UpstreamContext, { url, key }: ExampleAccess, pace: UpstreamPace): Task[] {
  const upstream = createTaskUpstream(context, {
    name: NAME,
    baseUrl: url,
    headers: { 'x-key': key },
    timeoutMs: 15_000,
    ...pace,
    hourlyBudget: 600,
  });
  return [
    createFollowedTask(context, {
      name: `${NAME}-listings`,
      periodMs: 5 * 60_000,
      deadlineMs: 10 * 60_000,
      upstream,
      isWanted: ({ names }) => names.has(NAME),
      process: async (_context, run) => {
        const { follow, ingester, signal } = run;
        const handle = follow.names.get(NAME);
        if (handle === undefined) return;
        const contract = { chain: follow.chain, contractAddress: follow.contractAddress };
        const { gap } = await ingester.ingestPages(walkListings(upstream, handle, { contract, signal }), signal);
        await concludeListings(run, { source: NAME, gap });
      },
    }),
  ];
}
