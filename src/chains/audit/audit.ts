// `audit`: holds what we serve against what the chains themselves say, and gives the drift as a number. It changes nothing, and
// shares nothing with the code that it audits but the tables and the endpoints.

import type { TokenKey } from '../queries/audited.ts';
import {
  listAuditedOrders,
  listAuditedTokens,
  listOrderSample,
  listServedOwners,
  listTokenSample,
} from '../queries/audited.ts';
import { findChainCursor } from '../../chain-log/queries/chain-cursors.ts';
import { listFollows } from '../../follows/queries/follows.ts';
import { OperatorError } from '../../core/errors.ts';
import type { ChainReader } from '../rpc/chain-reader.ts';
import type { ChainContext } from '../context.ts';
import type { Kind, LookContext, Seen } from './compare.ts';
import { lookAtAll, PATIENCE } from './compare.ts';
import { compareOrder } from './orders.ts';
import type { AuditReport, ChainAudit, Difference } from './report.ts';
import { DIFFERENCES_SHOWN_MAX } from './report.ts';
import { ACCOUNTS_MAX, compareToken } from './tokens.ts';
import { replayLog } from './replay.ts';

const SAMPLE_DEFAULT = 200;
/** What «all» means at most, of each kind and chain. */
const SAMPLE_MAX = 100_000;
const SEEDS = 2 ** 32;
const SEED_LENGTH_MAX = 100;

type Input = Readonly<Record<string, unknown>>;

/** Operations by name: JSON in, JSON out. Mistakes are thrown as OperatorErrors. */
export function createAuditOperations(context: ChainContext) {
  return {
    audit: (input: Input) => audit(context, input),
    'audit.replay': (input: Input) => replayLog(context, { chains: readChains(context, input) }),
  };
}

async function audit(context: ChainContext, input: Input): Promise<AuditReport> {
  const seed = readSeed(input) ?? String(Math.floor(context.random() * SEEDS));
  const limit = readSample(input);
  const readers = readChains(context, input).flatMap((chain) => context.followed.readerOf(chain) ?? []);
  const report: AuditReport = { drift: 0, orders: 0, tokens: 0, unreadable: 0, chains: [], differences: [], seed };
  for (const reader of readers) {
    if (!(await findChainCursor(context.main, reader.chain.id))) continue;
    const { audited, differences } = await auditChain(context, reader, { seed, limit });
    report.chains.push(audited);
    for (const sum of ['orders', 'tokens', 'unreadable', 'drift'] as const) report[sum] += audited[sum];
    report.differences.push(...differences.slice(0, DIFFERENCES_SHOWN_MAX - report.differences.length));
  }
  if (report.chains.length === 0) {
    throw new OperatorError('no chain is read here, or none has been yet: endpoints are set by RPC_URL_<CHAIN>');
  }
  return report;
}

async function auditChain(
  context: ChainContext,
  reader: ChainReader,
  choice: { seed: string; limit: number },
): Promise<{ audited: ChainAudit; differences: Difference[] }> {
  const { main, indexer, clock } = context;
  const chain = reader.chain.id;
  const looking: LookContext = { main, indexer, reader, clock, patience: { left: PATIENCE } };
  const orders = await lookAtAll(looking, ORDERS, await listOrderSample(main, chain, choice));
  const joined = (await listFollows(main, chain)).filter((follow) => follow.joined);
  const ids = joined.map((follow) => follow.collectionId);
  const tokens = await lookAtAll(looking, TOKENS, (await listTokenSample({ main, indexer }, ids, choice)).map(toKey));
  const differences = [...toDifferences(chain, 'order', orders), ...toDifferences(chain, 'token', tokens)];
  const block = Math.max(orders.block ?? 0, tokens.block ?? 0) || null;
  const unreadable = orders.unreadable + tokens.unreadable;
  const drift = differences.length;
  return {
    audited: { chain, block, orders: orders.compared, tokens: tokens.compared, unreadable, drift },
    differences,
  };
}

const ORDERS: Kind<Awaited<ReturnType<typeof listAuditedOrders>>[number]> = {
  take: async ({ main }, keys) => new Map((await listAuditedOrders(main, keys)).map((order) => [order.orderId, order])),
  compare: compareOrder,
};

const TOKENS: Kind<Parameters<typeof compareToken>[1]> = {
  take: async ({ main, indexer }, keys) => {
    const wanted = keys.map(fromKey);
    const served = new Map((await listServedOwners(indexer, wanted)).map((token) => [toKey(token), token]));
    const tokens = await listAuditedTokens(main, wanted, { accountsMax: ACCOUNTS_MAX });
    return new Map(tokens.map((token) => [toKey(token), { ...token, served: served.get(toKey(token)) ?? null }]));
  },
  compare: compareToken,
};

function toKey({ collectionId, tokenId }: TokenKey): string {
  return `${collectionId} ${tokenId}`;
}

function fromKey(key: string): TokenKey {
  const [collectionId = '', tokenId = ''] = key.split(' ');
  return { collectionId, tokenId };
}

function toDifferences(chain: string, what: string, { differences }: Seen): Difference[] {
  return [...differences].flatMap(([key, { block, findings }]) =>
    (findings ?? []).map((finding) => ({ chain, block, subject: `${what} ${key}`, ...finding })),
  );
}

/** The chain that is named, or all EVM chains. */
function readChains({ chains }: ChainContext, input: Input): string[] {
  const chain = input['chain'] ?? null;
  const evm = [...chains.values()].filter(({ family }) => family === 'evm').map(({ id }) => id);
  if (chain === null) return evm;
  if (typeof chain !== 'string' || !evm.includes(chain)) {
    throw new OperatorError(`${JSON.stringify(chain)} is not an EVM chain; there are ${evm.join(', ')}`, {
      exitCode: 2,
    });
  }
  return [chain];
}

function readSample(input: Input): number {
  const sample = input['sample'] ?? SAMPLE_DEFAULT;
  if (typeof sample === 'number' && Number.isSafeInteger(sample) && sample >= 0 && sample <= SAMPLE_MAX) {
    return sample === 0 ? SAMPLE_MAX : sample;
  }
  throw new OperatorError(`the sample must be an integer from 1 to ${SAMPLE_MAX}, or 0 for all`, { exitCode: 2 });
}

function readSeed(input: Input): string | null {
  const seed = input['seed'] ?? null;
  if (seed === null) return null;
  if (typeof seed === 'string' && /^[\w.-]+$/.test(seed) && seed.length <= SEED_LENGTH_MAX) return seed;
  throw new OperatorError('the seed must be letters and digits', { exitCode: 2 });
}
