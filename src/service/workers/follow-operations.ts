// The operator's operations on followed collections: add a collection and estimate its backfill, list all followed collections with their
// progress, and remove a collection. None of the operations reads from a marketplace. The background tasks do that.

import { deleteContractEvents } from '../../market/chain-log/queries/chain-events.ts';
import {
  findChainCursor,
  listChainCursors,
  updateChainRevision,
} from '../../market/chain-log/queries/chain-cursors.ts';
import {
  listCollectionsByIds,
  listCollectionsByName,
  listRecordedCollections,
} from '../../market/reads/queries/collections.ts';
import type { RemovedRows } from '../../market/reads/remove-collections.ts';
import { removeCollections } from '../../market/reads/remove-collections.ts';
import type { Follow } from '../../market/follows/queries/follows.ts';
import { deleteLastRuns } from '../../market/follows/queries/last-runs.ts';
import { deleteFollow, findFollow, listFollows, upsertFollow } from '../../market/follows/queries/follows.ts';
import { deleteHoldings } from '../../market/chain-log/queries/holdings.ts';
import { evaluateCollectionOrders } from '../../market/orders/evaluate.ts';
import type { Address } from '../../platform/core/address.ts';
import { parseAddress } from '../../platform/core/address.ts';
import type { Chain } from '../../platform/core/chains.ts';
import { parseCollectionId, toCollectionId } from '../../platform/core/collection.ts';
import { isStorable } from '../../platform/core/text.ts';
import { OperatorError } from '../../platform/core/errors.ts';
import type { SoughtContract, TokenForm } from '../../sources/chains/find-standard.ts';
import { findTokenForm, hasDecimals } from '../../sources/chains/find-standard.ts';
import type { ChainReader } from '../../sources/chains/rpc/chain-reader.ts';
import type { EventFilter } from '../../sources/chains/rpc/log-query.ts';
import type { MetadataEstimate } from '../../sources/metadata/estimate.ts';
import { estimateMetadata } from '../../sources/metadata/estimate.ts';
import { Ingester } from '../../sources/upstreams/ingester.ts';
import type { WorkerContext } from './context.ts';
import type { TokenStandard } from '../../platform/core/evm.ts';

export type FollowOperations = WorkerContext & {
  /** Called after a collection was added. Nudges the tasks that read the followed collections, so that they run immediately. */
  onFollowed: () => Promise<void>;
};

type Input = Readonly<Record<string, unknown>>;

/** What the backfill of a collection needs. Calls and minutes are extrapolated from a few sample calls. */
export type Estimate = { fromBlock: number; toBlock: number; blocks: number; calls: number; minutes: number };

export type Added = {
  collectionId: string;
  name: string;
  standard: TokenStandard | null;
  /** Null if the chain is not read, because it has no endpoint or is in FROZEN_CHAINS. The collection is then read from marketplaces only. */
  estimate: Estimate | null;
  /** Null if the chain is not read, or if the settings turn metadata off. */
  metadata: MetadataEstimate | null;
  dryRun: boolean;
};

/** The operations by name. Inputs and results are JSON. An operation throws OperatorError for input that the operator must correct. */
export function createCollectionOperations(context: FollowOperations) {
  return {
    'collections.add': (input: Input) => add(context, input),
    'collections.list': () => list(context),
    'collections.remove': (input: Input) =>
      input['purge'] === true ? purge(context, input) : removeFollow(context, input),
  };
}

async function add(context: FollowOperations, input: Input): Promise<Added> {
  const { chain, address, ...given } = readNewFollow(context, input);
  const collectionId = toCollectionId(chain.id, address);
  const reader = context.followed.readerOf(chain.id);
  const facts = reader ? await readFacts(context, reader, { collectionId, address, ...given }) : null;
  const [stored] = await listRecordedCollections(context.main, [collectionId]);
  const name = given.name ?? stored?.name ?? facts?.name ?? address;
  const { estimate = null, metadata = null } = facts ?? {};
  const { standard, unindexed } = facts?.form ?? { standard: given.standard };
  const added = { collectionId, name, standard, estimate, metadata };
  if (input['dryRun'] === true) return { ...added, dryRun: true };
  const ingester = new Ingester(context);
  await ingester.ingest([
    {
      kind: 'collection',
      chain: chain.id,
      contractAddress: address,
      name,
      ...fieldIfKnown('slug', given.slug),
      ...given.launched,
      ...fieldIfKnown('tokenStandard', standard && toStandardName(standard)),
    },
  ]);
  const [rejection] = ingester.result().refusals ?? [];
  if (rejection) throw new OperatorError(rejection.example);
  await context.main.transaction(async (tx) => {
    await upsertFollow(tx, {
      collectionId,
      chain: chain.id,
      contractAddress: address,
      standard,
      unindexed,
      fromBlock: facts?.fromBlock ?? null,
      names: given.names,
      createdAt: context.clock(),
    });
    // Earlier runs may have used other names of the collection, so every task must process it again.
    await deleteLastRuns(tx, collectionId);
  });
  await context.onFollowed();
  return { ...added, dryRun: false };
}

/** The complete input of `collections.add`. It is checked before the chain is read and before anything is stored. */
function readNewFollow(context: FollowOperations, input: Input) {
  const contract = readContract(context, input);
  return {
    ...contract,
    name: readTextOrNull(input, 'name'),
    slug: readTextOrNull(input, 'slug'),
    launched: readLaunched(input),
    fromBlock: readBlock(input),
    standard: readStandard(input, contract.chain),
    names: readNames(context.config.vendors, input),
  };
}

type NewContract = { collectionId: string; address: Address; fromBlock: number | null; standard: TokenStandard | null };

type Facts = Pick<Added, 'metadata'> & {
  form: TokenForm;
  name: string | null;
  fromBlock: number;
  estimate: Estimate;
};

/** Reads the facts about a contract from its chain. Throws OperatorError when the contract cannot be followed. */
async function readFacts(
  context: FollowOperations,
  reader: ChainReader,
  { collectionId, address, fromBlock, standard }: NewContract,
): Promise<Facts> {
  const { chain } = reader;
  if ((await reader.contracts.code(address, 'latest')) === '0x') {
    throw new OperatorError(`there is no contract at ${address} on ${chain.id}`);
  }
  const from = fromBlock ?? (await reader.contracts.createdAt(address));
  if (from === null) {
    throw new OperatorError(
      `the endpoints of ${chain.id} do not keep old state, so the first block is unknown: set --from-block to the block of the first mint`,
    );
  }
  const cursor = await findChainCursor(context.main, chain.id);
  const toBlock = cursor?.number ?? (await reader.blocks.head()).number;
  const protocols = context.followed.protocolsOf(chain.id);
  const known = standard ?? (await findFollow(context.main, collectionId))?.standard ?? null;
  const form = await readForm(reader, { address, from, to: toBlock, protocols }, { standard, known });
  const estimate = await estimateBackfill(reader, { from, to: toBlock }, { protocols, contracts: [address] });
  const metadata = await estimateMetadata(reader, { address, standard: form.standard }, context.config);
  return { form, name: await reader.contracts.name(address), fromBlock: from, estimate, metadata };
}

/**
 * What the contract is: what the chain shows, otherwise the given standard, otherwise the stored one. Throws OperatorError if the chain contradicts
 * the given standard, and if nothing says what the contract is.
 */
async function readForm(
  reader: ChainReader,
  sought: SoughtContract,
  { standard, known }: { standard: TokenStandard | null; known: TokenStandard | null },
): Promise<TokenForm> {
  const { address } = sought;
  const form = await findTokenForm(reader, sought);
  if (form && standard && form.standard !== standard) {
    const shown = form.standard === null ? 'neither ERC-721 nor ERC-1155' : toStandardName(form.standard);
    throw new OperatorError(`the chain shows that ${address} is ${shown}: leave out --standard`);
  }
  if (form) return form;
  if (known) {
    // A settlement protocol that is itself the contract of its tokens has decoders of its own.
    const unindexed = known === 'erc721' && !sought.protocols.has(address) && !(await hasDecimals(reader, address));
    return { standard: known, unindexed };
  }
  throw new OperatorError(
    `${address} on ${reader.chain.id} supports neither ERC-721 nor ERC-1155 (ERC-165), and its logs do not show which of them it is: ` +
      'if its tokens are of one of them, name it with --standard erc721 or --standard erc1155',
  );
}

function toStandardName(standard: TokenStandard): string {
  return standard.toUpperCase().replace('ERC', 'ERC-');
}

/** Where the sample calls start, as shares of the range of blocks. */
const SAMPLES = [0.02, 0.5, 0.98];
const SAMPLE_BLOCKS_MAX = 50_000;

async function estimateBackfill(
  reader: ChainReader,
  { from, to }: { from: number; to: number },
  filter: EventFilter,
): Promise<Estimate> {
  const blocks = Math.max(0, to - from + 1);
  let covered = 0;
  let spentMs = 0;
  const starts = new Set(SAMPLES.map((share) => from + Math.floor(share * Math.max(0, blocks - 1))));
  for (const start of blocks > 0 ? starts : []) {
    const startedAt = performance.now();
    covered += await reader.events.countAccepted(start, Math.min(to, start + SAMPLE_BLOCKS_MAX - 1), filter);
    spentMs += performance.now() - startedAt;
  }
  const calls = covered === 0 ? 0 : Math.ceil(blocks / (covered / starts.size));
  const minutes = (calls * (spentMs / starts.size)) / 60_000;
  return { fromBlock: from, toBlock: to, blocks, calls, minutes: Number(minutes.toPrecision(2)) };
}

type Listed = Pick<Follow, 'collectionId' | 'chain' | 'contractAddress' | 'standard'> & {
  name: string | null;
  state: 'live' | 'catching up' | 'marketplaces only';
  /**
   * How much of the backfill is done, in per cent. Null when the collection is read from marketplaces only, or its chain was never read.
   */
  progress: number | null;
  createdAt: string;
};

async function list({ main, config }: FollowOperations): Promise<Listed[]> {
  const follows = await listFollows(main);
  const names = await listCollectionsByIds(
    main,
    follows.map((follow) => follow.collectionId),
  );
  const nameOf = new Map(names.map(({ id, name }) => [id, name]));
  const cursors = new Map((await listChainCursors(main)).map(({ chain, number }) => [chain, number]));
  return follows.map(({ createdAt, joined, readToBlock, fromBlock, names: vendorNames, ...follow }) => ({
    ...follow,
    ...toListedNames(config.vendors, vendorNames),
    name: nameOf.get(follow.collectionId) ?? null,
    state: joined ? 'live' : fromBlock === null ? 'marketplaces only' : 'catching up',
    progress: toProgress({ joined, readToBlock, fromBlock }, cursors.get(follow.chain) ?? null),
    createdAt: new Date(createdAt).toISOString(),
  }));
}

function toProgress(
  { joined, readToBlock, fromBlock }: Pick<Follow, 'joined' | 'readToBlock' | 'fromBlock'>,
  cursor: number | null,
): number | null {
  if (joined) return 100;
  if (fromBlock === null || cursor === null) return null;
  const total = cursor - fromBlock + 1;
  const read = (readToBlock ?? fromBlock - 1) - fromBlock + 1;
  return total <= 0 ? 0 : Math.floor((100 * read) / total);
}

/**
 * Stops following a collection. Its listings, sales, tokens and orders are kept and served. On an EVM chain its events, holders and
 * approvals are deleted, and its orders are evaluated without them.
 */
async function removeFollow(context: FollowOperations, input: Input) {
  const id = readTextOrNull(input, 'id') ?? rejectInput('id is missing');
  const follow = await findByName(context.main, await toIdOfSlug(context.main, id));
  if (!follow) throw new OperatorError(`${JSON.stringify(id)} is not followed; see mercat collections list`);
  await unfollow(context, follow);
  return { collectionId: follow.collectionId, removed: true };
}

async function unfollow(
  { main, chains, clock, onChanged, copyCatalog }: FollowOperations,
  { collectionId, chain, contractAddress }: Follow,
): Promise<void> {
  await main.transaction(async (tx) => {
    await findChainCursor(tx, chain, 'for update');
    await deleteFollow(tx, collectionId);
    if (chains.get(chain)?.family !== 'evm') return;
    await deleteContractEvents(tx, chain, contractAddress);
    await deleteHoldings(tx, collectionId);
    // Without known holders and approvals no order is dormant, so dormant orders of the collection become active again.
    await evaluateCollectionOrders(tx, collectionId, clock());
    await updateChainRevision(tx, chain);
  });
  await copyCatalog();
  onChanged({ collectionIds: new Set([collectionId]), kinds: new Set(['order']) });
}

/** The chain id for a collection whose id names no chain. No cursor has this chain id, so no cursor is locked. */
const NO_CHAIN = '';

export type Purged = { collectionId: string; removed: true; rows: RemovedRows };

/**
 * Deletes everything that is stored about a collection, whether it is followed or not. A followed collection is unfollowed first. A task
 * that is reading a page of the collection at that time can store the page after the purge. The operator can then purge the collection again.
 */
async function purge(context: FollowOperations, input: Input): Promise<Purged> {
  const id = readTextOrNull(input, 'id') ?? rejectInput('id is missing');
  const named = await toIdOfSlug(context.main, id);
  const follow = await findByName(context.main, named);
  if (follow) await unfollow(context, follow);
  const collectionId = follow?.collectionId ?? named;
  const chain = follow?.chain ?? parseCollectionId(context.chains, collectionId)?.chainId ?? NO_CHAIN;
  const rows = await removeCollections(context, [{ collectionId, chain }]);
  if (!follow && Object.values(rows).every((count) => count === 0)) {
    throw new OperatorError(`nothing is stored about a collection with the id or slug ${JSON.stringify(id)}`);
  }
  return { collectionId, removed: true, rows };
}

/** The id of the collection that has this slug; the text itself if none has. */
async function toIdOfSlug(main: FollowOperations['main'], text: string): Promise<string> {
  const named = await listCollectionsByName(main, [{ id: text, slug: text, address: text }]);
  return named.find(({ slug }) => slug === text)?.id ?? text;
}

async function findByName(main: FollowOperations['main'], text: string): Promise<Follow | null> {
  return (await findFollow(main, text)) ?? (await findByAddress(main, text));
}

async function findByAddress(main: FollowOperations['main'], text: string): Promise<Follow | null> {
  const found = (await listFollows(main)).filter(
    (follow) => follow.contractAddress === text || follow.contractAddress === text.toLowerCase(),
  );
  if (found.length > 1)
    throw new OperatorError(`${text} is followed on several chains: use the collection id, CHAIN_ADDRESS`);
  return found[0] ?? null;
}

function readContract({ chains }: FollowOperations, input: Input): { chain: Chain; address: Address } {
  const chainId = readTextOrNull(input, 'chain') ?? rejectInput('chain is missing');
  const chain = chains.get(chainId);
  if (!chain)
    return rejectInput(`${JSON.stringify(chainId)} is not a chain; the chains are ${[...chains.keys()].join(', ')}`);
  const text = readTextOrNull(input, 'address') ?? rejectInput('address is missing');
  const form = chain.family === 'evm' ? 'an EVM address' : 'a collection mint in base58';
  return { chain, address: parseAddress(chain.family, text) ?? rejectInput(`${JSON.stringify(text)} is not ${form}`) };
}

/** Returns no field if the input does not say whether the collection is launched. The stored value is then kept. */
function readLaunched(input: Input): { launched?: boolean } {
  const value = input['launched'] ?? null;
  if (value === null) return {};
  return typeof value === 'boolean' ? { launched: value } : rejectInput('launched must be true or false');
}

function readBlock(input: Input): number | null {
  const value = input['fromBlock'] ?? null;
  if (value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)) return value;
  return rejectInput('the first block must be an integer of 0 or more');
}

function readStandard(input: Input, { id, family }: Chain): TokenStandard | null {
  const value = input['standard'] ?? null;
  if (value === null) return null;
  if (family !== 'evm') return rejectInput(`a collection on ${id} has no such standard: leave out the standard`);
  if (value === 'erc721' || value === 'erc1155') return value;
  return rejectInput('the standard must be erc721 or erc1155');
}

/** The collection's names, by vendor. */
function readNames(vendors: Vendors, input: Input): Map<string, string> {
  const names = new Map<string, string>();
  for (const { name: vendor, collectionName } of vendors) {
    const name = collectionName && readTextOrNull(input, collectionName.option);
    if (name !== null) names.set(vendor, name);
  }
  return names;
}

/** One field for each vendor that names collections in its own way. The field is null when the collection's name at the vendor is not stored. */
function toListedNames(vendors: Vendors, names: ReadonlyMap<string, string>): Record<string, string | null> {
  return Object.fromEntries(
    vendors.flatMap(({ name: vendor, collectionName }) =>
      collectionName ? [[collectionName.listedAs, names.get(vendor) ?? null]] : [],
    ),
  );
}

type Vendors = WorkerContext['config']['vendors'];

function readTextOrNull(input: Input, name: string): string | null {
  const value = input[name] ?? null;
  if (value === null || (typeof value === 'string' && value !== '' && isStorable(value))) return value;
  return rejectInput(`${name} must be text`);
}

function fieldIfKnown(name: string, value: string | null): Record<string, string> {
  return value === null ? {} : { [name]: value };
}

function rejectInput(message: string): never {
  throw new OperatorError(message, { exitCode: 2 });
}
