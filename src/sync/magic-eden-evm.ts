// The task that mirrors Magic Eden's asks on EVM chains, for collections that are followed under a symbol there. Where the
// interface no longer answers, that is told, and nothing is concluded.

import type { Chain } from '../domain/chain.ts';
import type { Follow } from '../db/follows.ts';
import { listFollows } from '../db/follows.ts';
import { hasMagicEdenAsks, walkMagicEdenAsks } from '../sources/magic-eden-evm.ts';
import { MAGIC_EDEN } from '../sources/magic-eden-solana.ts';
import type { Upstream, UpstreamPace } from '../sources/upstream.ts';
import { createUpstream } from '../sources/upstream.ts';
import { createTurns, eachFollowed } from './followed.ts';
import type { Lander } from './land.ts';
import { createLander } from './land.ts';
import { landPages } from './land-harvest.ts';
import type { SyncContext, SyncTask } from './task.ts';

const PERIOD_MS = 5 * 60_000;
const DEADLINE_MS = 10 * 60_000;
const TIMEOUT_MS = 15_000;
const HOURLY_BUDGET = 3_600;

export function createMagicEdenEvmTasks(
  context: SyncContext,
  pace: UpstreamPace = { timeoutMs: TIMEOUT_MS },
): SyncTask[] {
  const { config, log, clock, random } = context;
  const upstream = createUpstream({
    name: 'magic-eden-evm',
    baseUrl: config.magicedenEvmUrl,
    headers: config.magicedenKey === null ? {} : { authorization: `Bearer ${config.magicedenKey}` },
    ...pace,
    hourlyBudget: HOURLY_BUDGET,
    log,
    clock,
    random,
  });
  const turns = createTurns();
  return [
    {
      name: 'magic-eden-asks',
      periodMs: PERIOD_MS,
      deadlineMs: DEADLINE_MS,
      upstreams: () => [upstream.status()],
      run: async (signal, report) => {
        const lander = createLander(context);
        const told: string[] = [];
        const follows = (await listFollows(context.main)).filter(
          ({ chain, magicedenSymbol }) => magicedenSymbol !== null && hasMagicEdenAsks(chain),
        );
        const work = (follow: Follow) => {
          const chain = context.chains.get(follow.chain);
          return syncAsks({ upstream, follow, chain, lander, problems: told, begunBy: clock(), signal });
        };
        const { problems, soon } = await eachFollowed({ follows, turns, now: clock, signal, report, work });
        return lander.result({ problems: [...problems, ...told], soon });
      },
    },
  ];
}

type Step = {
  upstream: Upstream;
  follow: Follow;
  chain: Chain | undefined;
  lander: Lander;
  problems: string[];
  begunBy: number;
  signal: AbortSignal;
};

async function syncAsks({ upstream, follow, chain, lander, problems, begunBy, signal }: Step): Promise<void> {
  const { collectionId, contractAddress } = follow;
  if (!chain) return;
  const asks = walkMagicEdenAsks(upstream, { chain, contractAddress, begunBy }, { signal });
  const end = await landPages(lander, asks, signal);
  if (!end.whole) problems.push(`${collectionId}: asks not seen whole: ${end.why}`);
  else if (!(await lander.retireUnseen({ source: MAGIC_EDEN, collectionId }))) {
    problems.push(`${collectionId}: so many asks are gone at once that it is not believed yet`);
  }
}
