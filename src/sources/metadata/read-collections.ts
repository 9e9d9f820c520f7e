// Reads the metadata of collections from their contracts: the document to which contractURI points, and the royalty of ERC-2981.

import type { Address, AssetId } from '../../platform/core/address.ts';
import { ChainUnavailable, RpcFailure } from '../chains/rpc/rpc-failure.ts';
import type { ChainReader } from '../chains/rpc/chain-reader.ts';
import type { ContractUri } from '../chains/rpc/contract-reads.ts';
import type { MetadataContext, ReadCollection } from './context.ts';
import type { MetadataClient } from './metadata-client.ts';
import type { MetadataFailure } from './metadata-failure.ts';
import { metadataRetryMs } from './metadata-failure.ts';
import { digestUri } from './metadata-uri.ts';
import type { CollectionDocument } from './parse-metadata.ts';
import { hasFields, parseCollectionDocument } from './parse-metadata.ts';
import type { DueCollection } from './queries/collection-metadata.ts';
import { listDueCollectionMetadata, upsertCollectionMetadata } from './queries/collection-metadata.ts';
import { findFirstToken } from './queries/due-tokens.ts';
import { isFailureOfCall } from './uri-reads.ts';

/** A collection is read again after this time, because a contract can change without announcing it. */
const REFRESH_MS = 24 * 60 * 60_000;
/** The token whose royalty is read while no token of the collection is stored. */
const SOME_TOKEN = '1' as AssetId;

export type CollectionsRun = {
  client: MetadataClient;
  collections: readonly ReadCollection[];
  signal: AbortSignal;
  /** Receives what could not be read, in words for the operator. */
  problems: Set<string>;
};

/** Returns how many collections changed. */
export async function readDueCollections(context: MetadataContext, run: CollectionsRun): Promise<number> {
  const { main, clock, onChanged } = context;
  const byId = new Map(run.collections.map((collection) => [collection.follow.collectionId, collection]));
  const changed = new Set<string>();
  for (const due of await listDueCollectionMetadata(main, [...byId.keys()], clock())) {
    run.signal.throwIfAborted();
    const collection = byId.get(due.collectionId);
    if (collection && (await readCollection(context, run, { due, collection }))) changed.add(due.collectionId);
  }
  if (changed.size > 0) onChanged({ collectionIds: changed, kinds: new Set(['collection']) });
  return changed.size;
}

async function readCollection(
  { main, indexer, clock, random }: MetadataContext,
  { client, signal, problems }: CollectionsRun,
  { due, collection: { follow, reader } }: { due: DueCollection; collection: ReadCollection },
): Promise<boolean> {
  const { collectionId } = due;
  const tokenId = (await findFirstToken(indexer, collectionId)) ?? SOME_TOKEN;
  try {
    const { uri, royaltyBps } = await readFacts(reader, follow.contractAddress, tokenId);
    const result = await readDocument(client, uri, signal);
    if (result.failure === 'over-budget') return false;
    const { document, failure } = result;
    const at = clock();
    const attempts = failure === null ? 0 : due.attempts + 1;
    const waitMs = failure === null ? REFRESH_MS : metadataRetryMs(failure, attempts, random);
    return await upsertCollectionMetadata(main, {
      collectionId,
      document,
      royaltyBps: royaltyBps ?? document?.royaltyBps ?? null,
      failure,
      host: result.host,
      uriDigest: uri.kind === 'uri' ? digestUri(uri.uri) : null,
      attempts,
      dueAt: at + Math.min(waitMs, REFRESH_MS),
      at,
    });
  } catch (error) {
    if (!(error instanceof ChainUnavailable || error instanceof RpcFailure)) throw error;
    problems.add(error.message);
    return false;
  }
}

async function readFacts(
  { contracts }: ChainReader,
  contract: Address,
  tokenId: AssetId,
): Promise<{ uri: ContractUri; royaltyBps: number | null }> {
  try {
    return await contracts.collectionFacts(contract, tokenId);
  } catch (error) {
    if (!isFailureOfCall(error)) throw error;
    return { uri: { kind: 'unreadable' }, royaltyBps: null };
  }
}

type DocumentRead = {
  document: CollectionDocument | null;
  host: string | null;
  failure: MetadataFailure | 'over-budget' | null;
};

/** A contract without the function contractURI is not a failure, because few contracts have this function. */
async function readDocument(client: MetadataClient, uri: ContractUri, signal: AbortSignal): Promise<DocumentRead> {
  if (uri.kind === 'none') return { document: EMPTY, host: null, failure: null };
  if (uri.kind !== 'uri') return { document: null, host: null, failure: uri.kind };
  const result = await client.read(uri.uri, signal);
  if (!result.ok) return { document: null, host: result.host, failure: result.failure };
  const { host } = result;
  const document = parseCollectionDocument(result.document.body);
  if (document === null) return { document, host, failure: 'not-json' };
  return hasFields(document) ? { document, host, failure: null } : { document: null, host, failure: 'no-fields' };
}

const EMPTY: CollectionDocument = { name: null, image: null, banner: null, description: null, royaltyBps: null };
