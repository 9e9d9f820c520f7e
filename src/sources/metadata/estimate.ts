// Estimates how long it takes to read the metadata of a collection that is not followed yet.

import type { Address, AssetId } from '../../platform/core/address.ts';
import type { TokenStandard } from '../../platform/core/evm.ts';
import type { ChainReader } from '../chains/rpc/chain-reader.ts';
import { parseMetadataUri } from './metadata-uri.ts';
import type { MetadataSettings } from './settings.ts';

/**
 * `host`: the host of the first token's URI, as the status names it; null when the URI is missing or unsupported. `tokens` is null when the
 * contract does not report its supply. `minutes`: the shortest time in which the request budgets allow the metadata of all tokens to be
 * read. It is 0 for data URIs. For other URIs it is null when `host` or `tokens` is null.
 */
export type MetadataEstimate = { host: string | null; tokens: number | null; minutes: number | null };

/** Most collections begin with one of these token ids. */
const FIRST_IDS = ['1', '0'] as AssetId[];
const HOUR_MINUTES = 60;

/** Returns null when the settings turn the reading of metadata off. */
export async function estimateMetadata(
  { contracts }: ChainReader,
  { address, standard }: { address: Address; standard: TokenStandard | null },
  settings: MetadataSettings,
): Promise<MetadataEstimate | null> {
  const perHour = Math.min(settings.metadataHourlyBudget, settings.metadataHostBudget);
  if (perHour === 0) return null;
  const { supply } = await contracts.collectionFacts(address, '1' as AssetId);
  const uris = await contracts.tokenUris(address, standard, FIRST_IDS);
  const found = uris.find((uri) => uri.kind === 'uri');
  const parsed = found ? parseMetadataUri(found.uri, settings) : null;
  const tokens = supply !== null && supply <= Number.MAX_SAFE_INTEGER ? Number(supply) : null;
  if (parsed === null || parsed.kind === 'unsupported') return { host: null, tokens, minutes: null };
  if (parsed.kind === 'data') return { host: parsed.host, tokens, minutes: 0 };
  return { host: parsed.host, tokens, minutes: tokens === null ? null : Math.ceil((tokens / perHour) * HOUR_MINUTES) };
}
