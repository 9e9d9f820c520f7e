// `audit`: compares a sample of the stored orders and tokens with the state of the chains, and counts the differences. It changes no order
// and no token, but notes the blocks that must be read again because a token differs. It uses only the tables and the chain reader, not
// the code that derives the stored states.

import { findChainCursor } from '../../../market/chain-log/queries/chain-cursors.ts';
import { OperatorError } from '../../../platform/core/errors.ts';
import type { Follow } from '../../../market/follows/queries/follows.ts';
import { listFollows } from '../../../market/follows/queries/follows.ts';
import type { ChainContext } from '../context.ts';
import type { AuditedOrder, TokenKey } from './queries/audited.ts';
import {
  listAuditedOrders,
  listAuditedTokens,
  listOrderSample,
  listServedOwners,
  listTokenSample,
  listTokensOfSeveral,
} from './queries/audited.ts';
import type { ChainReader } from '../rpc/chain-reader.ts';
import type { CompareContext, Comparison, ComparisonResult } from './compare.ts';
import { compareAll, CHAIN_FAILURES_MAX } from './compare.ts';
import { digestChain } from './digest.ts';
import { compareOrder } from './orders.ts';
import { replayLog } from './replay.ts';
import { readAuditedBook } from './signed-orders.ts';
import type { AuditReport, ChainAudit, Difference } from './report.ts';
import { addToReport, createReport } from './report.ts';
import type { HeldToken } from './tokens.ts';
import { ACCOUNTS_MAX, compareToken } from './tokens.ts';
import type { WrongBlocks } from './wrong-blocks.ts';
import { listWrongBlocks, noteWrongBlocks } from './wrong-blocks.ts';

const SAMPLE_DEFAULT = 200;
/** The largest sample of orders, and of tokens, for each chain. The input 0 requests this size. */
const SAMPLE_MAX = 100_000;
const SEEDS = 2 ** 32;
const SEED_LENGTH_MAX = 100;
/** An audit compares at most this many ERC-721 tokens that several accounts seem to hold, besides its sample. */
const SEVERAL_MAX = 100;

type Input = Readonly<Record<string, unknown>>;

/** How long an audit waits after an attempt that failed, and before it compares differing rows again. */
const PAUSE_MS = 200;

/** The operations of the audit, by name. Inputs and results are JSON. Invalid input throws OperatorError. */
export function createAuditOperations(context: ChainContext, { pauseMs = PAUSE_MS }: { pauseMs?: number } = {}) {
  return {
    audit: (input: Input) => audit(context, input, pauseMs),
    'audit.replay': (input: Input) => replay(context, input),
    'audit.signed': (input: Input) => readAuditedBook(context, String(input['collectionId'])),
    'audit.digest': async (input: Input) => {
      const digests = [];
      for (const chain of readChains(context, input)) digests.push((await digestChain(context, chain)) ?? []);
      return digests.flat();
    },
  };
}

function replay(context: ChainContext, input: Input): Promise<AuditReport> {
  const chains = readChains(context, input);
  const isOne = (input['chain'] ?? null) !== null;
  return replayLog(context, { chains, figuresOf: isOne ? (chains[0] ?? null) : null });
}

async function audit(context: ChainContext, input: Input, pauseMs: number): Promise<AuditReport> {
  const seed = readSeed(input) ?? String(Math.floor(context.random() * SEEDS));
  const limit = readSample(input);
  const report = createReport(seed);
  for (const chain of readChains(context, input)) {
    const reader = context.followed.readerOf(chain);
    if (!reader || !(await findChainCursor(context.main, chain))) continue;
    const { audited, differences } = await auditChain(context, reader, { seed, limit, pauseMs });
    addToReport(report, audited, differences);
  }
  if (report.chains.length === 0) {
    throw new OperatorError('no chain is followed, or none has been read yet: set endpoints with RPC_URL_<CHAIN>');
  }
  return report;
}

async function auditChain(
  context: ChainContext,
  reader: ChainReader,
  { pauseMs, ...sample }: { seed: string; limit: number; pauseMs: number },
): Promise<{ audited: ChainAudit; differences: Difference[] }> {
  const { main, indexer, clock } = context;
  const chain = reader.chain.id;
  const comparing = { main, indexer, reader, clock, failures: { left: CHAIN_FAILURES_MAX }, pauseMs };
  const orders = await compareAll(comparing, ORDERS, await listOrderSample(main, chain, sample));
  const { tokens, wrong } = await auditTokens(comparing, sample);
  await noteWrongBlocks(context, chain, wrong);
  const differences = [...toDifferences(chain, 'order', orders), ...toDifferences(chain, 'token', tokens)];
  return {
    audited: {
      chain,
      block: Math.max(orders.block ?? 0, tokens.block ?? 0) || null,
      orders: orders.compared,
      tokens: tokens.compared,
      collections: 0,
      unreadable: orders.unreadable + tokens.unreadable,
      rereads: wrong.length,
      drift: differences.length,
      digest: await digestChain({ main, indexer }, chain, { pauseMs }),
    },
    differences,
  };
}

/**
 * Compares a sample of the tokens of the followed collections, and the ERC-721 tokens that several accounts seem to hold. `wrong`: the blocks
 * that explain the differences.
 */
async function auditTokens(
  comparing: CompareContext,
  sample: { seed: string; limit: number },
): Promise<{ tokens: ComparisonResult; wrong: WrongBlocks[] }> {
  const { main, indexer, reader } = comparing;
  const follows = (await listFollows(main, reader.chain.id)).filter((follow) => follow.joined);
  const idsOf = (chosen: readonly Follow[]) => chosen.map((follow) => follow.collectionId);
  const singles = follows.filter(({ standard }) => standard === 'erc721');
  const keys = [
    ...(await listTokensOfSeveral(main, idsOf(singles), SEVERAL_MAX)),
    ...(await listTokenSample({ main, indexer }, idsOf(follows), sample)),
  ];
  const tokens = await compareAll(comparing, TOKENS, [...new Set(keys.map(toKey))]);
  return { tokens, wrong: await listWrongBlocks(main, tokens, { follows, toToken: fromKey }) };
}

const ORDERS: Comparison<AuditedOrder> = {
  read: async ({ main }, keys) => new Map((await listAuditedOrders(main, keys)).map((order) => [order.orderId, order])),
  compare: compareOrder,
};

const TOKENS: Comparison<HeldToken> = {
  read: async ({ main, indexer }, keys) => {
    const tokenKeys = keys.map(fromKey);
    const served = new Map((await listServedOwners(indexer, tokenKeys)).map((token) => [toKey(token), token]));
    const tokens = await listAuditedTokens(main, tokenKeys, { accountsMax: ACCOUNTS_MAX });
    return new Map(tokens.map((token) => [toKey(token), { ...token, served: served.get(toKey(token)) ?? null }]));
  },
  compare: compareToken,
};

function toKey({ collectionId, tokenId }: { collectionId: string; tokenId: string }): string {
  return `${collectionId} ${tokenId}`;
}

function fromKey(key: string): TokenKey {
  const [collectionId = '', tokenId = ''] = key.split(' ');
  return { collectionId, tokenId };
}

function toDifferences(chain: string, what: string, { differences }: ComparisonResult): Difference[] {
  return [...differences].flatMap(([key, { block, findings }]) =>
    findings.map((finding) => ({ chain, block, subject: `${what} ${key}`, ...finding })),
  );
}

function readChains({ chains }: ChainContext, input: Input): string[] {
  const chain = input['chain'] ?? null;
  const evm = [...chains.values()].filter(({ family }) => family === 'evm').map(({ id }) => id);
  if (chain === null) return evm;
  if (typeof chain !== 'string' || !evm.includes(chain)) {
    throw new OperatorError(`${JSON.stringify(chain)} is not an EVM chain; the EVM chains are ${evm.join(', ')}`, {
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
  throw new OperatorError(`the seed must be 1 to ${SEED_LENGTH_MAX} characters: letters, digits, ".", "_" and "-"`, {
    exitCode: 2,
  });
}
