// Converts OpenSea's tokens to records. Only a response about a single token has owners. An owner is stored only if the token has exactly
// one owner.

import type { AssetId } from '../../../platform/core/address.ts';
import type { ParsedPage, VendorRow, SourceRecord } from '../response-rows.ts';
import {
  parseRows,
  optionalFlag,
  optionalInteger,
  optionalRow,
  optionalRows,
  optionalText,
  rejectRow,
  requiredAddress,
  requiredAsset,
  toRow,
} from '../response-rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toPath } from '../upstream-client.ts';
import type { WalkEnd } from '../walk.ts';
import { createPageReader, fetchObject, walkParsed } from './pages.ts';
import type { OpenSeaCollection, OpenSeaContract } from './names.ts';
import { toOpenSeaChain } from './names.ts';

const PAGES_MAX = 500;
const TOKENS_MAX = 100_000;
const RANK_MAX = 2 ** 31 - 1;

type Options = { pagesMax?: number; signal?: AbortSignal | undefined };

export async function readOpenSeaToken(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  tokenId: AssetId,
  { signal }: Options = {},
): Promise<ParsedPage> {
  const row = await fetchObject(upstream, toPath(...toContractPath(collection), 'nfts', tokenId), { signal });
  return parseRows([row['nft']], (token) => {
    if (requiredAsset(token, 'identifier', 'evm') !== tokenId) rejectRow('nft.identifier', 'is another token');
    return toTokens(token, collection);
  });
}

/** Reads all tokens of a collection page by page. The requests are bulk requests, because tokens are less urgent than listings. */
export function walkOpenSeaTokens(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { pagesMax = PAGES_MAX, signal }: Options = {},
): AsyncGenerator<ParsedPage, WalkEnd> {
  const readPage = createPageReader(upstream, toPath(...toContractPath(collection), 'nfts'), {
    name: 'nfts',
    isBulk: true,
    signal,
  });
  return walkParsed(readPage, (rows) => parseOpenSeaTokens(rows, collection), { pagesMax, rowsMax: TOKENS_MAX });
}

export function parseOpenSeaTokens(rows: readonly unknown[], contract: OpenSeaContract): ParsedPage {
  return parseRows(rows, (row) => toTokens(row, contract));
}

function toContractPath({ chain, contractAddress }: OpenSeaContract): string[] {
  const name = toOpenSeaChain(chain);
  if (name === null) throw new TypeError(`OpenSea has no chain ${chain.id}`);
  return ['api', 'v2', 'chain', name, 'contract', contractAddress];
}

function toTokens(row: VendorRow, contract: OpenSeaContract): SourceRecord[] {
  if (requiredAddress(row, 'contract', 'evm') !== contract.contractAddress)
    rejectRow('contract', 'is another contract');
  const tokenId = requiredAsset(row, 'identifier', 'evm');
  if (optionalFlag(row, 'is_disabled')) return [];
  const name = optionalText(row, 'name');
  const image = optionalText(row, 'image_url') ?? optionalText(row, 'display_image_url');
  const rarityRank = readRank(row);
  const owner = readOwner(row);
  return [
    {
      kind: 'token',
      chain: contract.chain.id,
      contractAddress: contract.contractAddress,
      tokenId,
      ...(name !== null && { name }),
      ...(image !== null && { image }),
      ...(rarityRank !== null && { rarityRank }),
      ...(owner !== null && { owner }),
    },
  ];
}

function readRank(row: VendorRow): number | null {
  const rarity = optionalRow(row, 'rarity');
  const rank = rarity && optionalInteger(rarity, 'rank');
  if (rank === null) return null;
  return rank >= 1 && rank <= RANK_MAX ? rank : rejectRow('rarity.rank', 'is not a rank');
}

function readOwner(row: VendorRow): string | null {
  const owners = optionalRows(row, 'owners');
  if (owners.length !== 1) return null;
  return requiredAddress(toRow(owners[0], 'owners[0]'), 'address', 'evm');
}
