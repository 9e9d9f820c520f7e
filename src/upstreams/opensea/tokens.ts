// Tokens as OpenSea describes them. An owner is told only of a token that is asked for by itself, and taken only where there is
// one: what several own has no owner.

import type { AssetId } from '../../core/address.ts';
import type { ParsedPage, SourceRecord, VendorRow } from '../rows.ts';
import {
  optionalFlag,
  optionalInteger,
  optionalRow,
  optionalRows,
  optionalText,
  parseRows,
  rejectRow,
  requiredAddress,
  requiredAsset,
  toRow,
} from '../rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toPath } from '../upstream-client.ts';
import type { WalkEnd } from '../walk.ts';
import { pageReader, readAnswer } from './pages.ts';
import type { OpenSeaCollection, OpenSeaContract } from './names.ts';
import { toOpenSeaChain } from './names.ts';
import { walkRows } from './walk-rows.ts';

const PAGES_MAX = 500;
const TOKENS_MAX = 100_000;
const RANK_MAX = 2 ** 31 - 1;

type Options = { pagesMax?: number; signal?: AbortSignal | undefined };

/** One token with its owner and its rank. */
export async function readOpenSeaToken(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  tokenId: AssetId,
  { signal }: Options = {},
): Promise<ParsedPage> {
  const row = await readAnswer(upstream, toPath(...toContractPath(collection), 'nfts', tokenId), { signal });
  return parseRows([row['nft']], (told) => {
    if (requiredAsset(told, 'identifier', 'evm') !== tokenId) rejectRow('nft.identifier', 'is another token');
    return toTokens(told, collection);
  });
}

/** The tokens of a contract, a page at a time: names and pictures, which can wait for what changes faster. */
export function walkOpenSeaTokens(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { pagesMax = PAGES_MAX, signal }: Options = {},
): AsyncGenerator<ParsedPage, WalkEnd> {
  const readPage = pageReader(upstream, toPath(...toContractPath(collection), 'nfts'), {
    name: 'nfts',
    isBulk: true,
    signal,
  });
  return walkRows(readPage, (rows) => parseOpenSeaTokens(rows, collection), { pagesMax, rowsMax: TOKENS_MAX });
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
  if (requiredAddress(row, 'contract', 'evm') !== contract.contractAddress) rejectRow('contract', 'is another one');
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
  return rank >= 1 && rank <= RANK_MAX ? rank : rejectRow('rarity.rank', 'is no rank');
}

function readOwner(row: VendorRow): string | null {
  const owners = optionalRows(row, 'owners');
  if (owners.length !== 1) return null;
  return requiredAddress(toRow(owners[0], 'owners[0]'), 'address', 'evm');
}
