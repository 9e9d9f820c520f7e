// Reads Solana tokens, their owners and their collections from an endpoint that serves DAS, the Digital Asset Standard (JSON-RPC). Supply and
// decimals decide whether an asset is non-fungible, because its field `interface` is `Custom` for some non-fungible tokens. DAS has no
// prices and no rarity.

import { parseAddress } from '../../../platform/core/address.ts';
import { isStorable } from '../../../platform/core/text.ts';
import { DESCRIPTION_MAX } from '../../../intake/records/fields.ts';
import type { DescribedAsset, ParsedPage, VendorRow, SourceRecord } from '../response-rows.ts';
import {
  emptyPage,
  parseRows,
  optionalAddress,
  optionalFlag,
  optionalInteger,
  optionalNumberText,
  optionalRow,
  optionalRows,
  optionalText,
  rejectRow,
  requiredAddress,
  requiredAsset,
  requiredText,
  RowRejection,
  toRow,
} from '../response-rows.ts';
import { readTraits } from '../traits.ts';
import type { UpstreamClient, UpstreamReason } from '../upstream-client.ts';
import { toMalformed, UpstreamFailure } from '../upstream-client.ts';
import type { WalkEnd } from '../walk.ts';
import { parsePages, walkPages } from '../walk.ts';

/** The name of the vendor. It stands for any endpoint that serves DAS. */
export const DAS = 'das';

const PAGE = 1_000;
const BATCH_MAX = 1_000;
/** The largest response accepted, in bytes. An asset has 2 to 5 KB, or more with many traits. */
const PAGE_BYTES_MAX = 32 * 2 ** 20;
const PAGES_MAX = 200;
const ASSETS_MAX = 200_000;
const BASIS_POINTS_MAX = 10_000;
const ERROR_LENGTH_MAX = 200;

/** Reads the tokens of a collection page by page, the oldest first. So a token that is created during the walk comes at the end. */
export function walkDasCollection(
  upstream: UpstreamClient,
  collection: string,
  { signal, pageSize = PAGE }: { signal?: AbortSignal; pageSize?: number } = {},
): AsyncGenerator<ParsedPage, WalkEnd> {
  const pages = walkPages(
    async (cursor) => {
      const page = Number(cursor ?? '1');
      const result = await call(upstream, 'getAssetsByGroup', signal, {
        groupKey: 'collection',
        groupValue: collection,
        page,
        limit: pageSize,
        sortBy: { sortBy: 'created', sortDirection: 'asc' },
      });
      const { items, limit } = readList(upstream, result);
      if (items.length > pageSize) throw toMalformed(upstream, 'more assets than requested');
      // An endpoint can return smaller pages than requested. Then it reports the size of its pages as `limit`.
      return { rows: items, next: items.length < Math.min(pageSize, limit) ? null : String(page + 1) };
    },
    { pagesMax: PAGES_MAX, rowsMax: ASSETS_MAX },
  );
  return parsePages(pages, (assets) => parseDasTokens(assets, collection));
}

/** Reads the tokens with the given mints. A mint that the endpoint does not know gives no record. */
export async function readDasTokens(
  upstream: UpstreamClient,
  mints: readonly string[],
  { collection, signal }: { collection: string; signal?: AbortSignal },
): Promise<ParsedPage> {
  if (mints.length > BATCH_MAX) throw new RangeError(`at most ${BATCH_MAX} mints`);
  if (mints.length === 0) return emptyPage();
  const batch = await call(upstream, 'getAssetBatch', signal, { ids: mints });
  if (!Array.isArray(batch) || batch.length > mints.length) throw toMalformed(upstream, 'no batch of assets');
  const wanted = new Set(mints);
  const known = batch.filter((asset) => asset !== null);
  return parseDescribedRows(known, (row) => {
    if (!wanted.has(requiredText(row, 'id'))) rejectRow('id', 'was not requested');
    return toTokens(row, collection);
  });
}

/** Reads the record of a collection from the collection's own asset. */
export async function readDasCollection(
  upstream: UpstreamClient,
  collection: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<ParsedPage> {
  const asset = await call(upstream, 'getAsset', signal, { id: collection });
  return parseRows([asset], (row) => {
    if (requiredAddress(row, 'id', 'solana') !== collection) rejectRow('id', 'belongs to another asset');
    const { name, image, description } = readContent(row);
    const royaltyBps = readRoyalty(row);
    if (name === null) return [];
    return [
      {
        kind: 'collection',
        chain: 'solana',
        contractAddress: collection,
        name,
        ...(image !== null && { image }),
        ...(description !== null && { description }),
        ...(royaltyBps !== null && { royaltyBps }),
      },
    ];
  });
}

/** What the tokens of a collection have in common. Null: unknown. */
export type TokenTraits = { tokenStandard: string | null; royaltyBps: number | null };

/**
 * Reads the token standard and the royalty from the oldest token, because the collection's own asset can have another standard than its
 * tokens, and no royalty.
 */
export async function readDasTokenTraits(
  upstream: UpstreamClient,
  collection: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<TokenTraits> {
  const result = await call(upstream, 'getAssetsByGroup', signal, {
    groupKey: 'collection',
    groupValue: collection,
    page: 1,
    limit: 1,
    sortBy: { sortBy: 'created', sortDirection: 'asc' },
  });
  const [first] = readList(upstream, result).items;
  if (first === undefined) return { tokenStandard: null, royaltyBps: null };
  return orMalformed(upstream, () => {
    const row = toRow(first, 'asset');
    return { tokenStandard: readStandard(row), royaltyBps: readRoyalty(row) };
  });
}

function readRoyalty(row: VendorRow): number | null {
  const royalty = optionalRow(row, 'royalty');
  const royaltyBps = royalty && optionalInteger(royalty, 'basis_points');
  return royaltyBps !== null && royaltyBps >= 0 && royaltyBps <= BASIS_POINTS_MAX ? royaltyBps : null;
}

/** The name of the token standard at Metaplex, by the interface of the asset. */
const STANDARDS: ReadonlyMap<string, string> = new Map([
  ['V1_NFT', 'NonFungible'],
  ['V2_NFT', 'NonFungible'],
  ['LEGACY_NFT', 'NonFungible'],
  ['ProgrammableNFT', 'ProgrammableNonFungible'],
  ['MplCoreAsset', 'Core'],
  ['MplCoreCollection', 'Core'],
]);

/** The standard in the metadata of the asset, otherwise the standard of its interface in STANDARDS, otherwise null. */
function readStandard(row: VendorRow): string | null {
  const metadata = optionalRow(optionalRow(row, 'content') ?? {}, 'metadata') ?? {};
  return optionalText(metadata, 'token_standard') ?? STANDARDS.get(optionalText(row, 'interface') ?? '') ?? null;
}

/**
 * With `collection`, assets that are not in that collection are rejected. With null, each asset belongs to the collection in its grouping,
 * and an asset without a collection is skipped. Fungible and burnt assets are always skipped.
 */
export function parseDasTokens(assets: readonly unknown[], collection: string | null): ParsedPage {
  return parseDescribedRows(assets, (row) => toTokens(row, collection));
}

function parseDescribedRows(
  assets: readonly unknown[],
  toRecords: (row: VendorRow) => readonly SourceRecord[],
): ParsedPage {
  const described: DescribedAsset[] = [];
  const page = parseRows(assets, (row) => {
    const records = toRecords(row);
    if (records.length > 0) described.push(toDescribed(row));
    return records;
  });
  return { ...page, described };
}

function toDescribed(row: VendorRow): DescribedAsset {
  const metadata = optionalRow(optionalRow(row, 'content') ?? {}, 'metadata') ?? {};
  const { description } = readContent(row);
  const stored = description === null || !isStorable(description) ? null : toDescription(description);
  return { asset: requiredAsset(row, 'id', 'solana'), description: stored, traits: readTraits(metadata['attributes']) };
}

function toDescription(text: string): string | null {
  return text.trim().slice(0, DESCRIPTION_MAX).toWellFormed() || null;
}

function toTokens(row: VendorRow, collection: string | null): SourceRecord[] {
  const mint = requiredAsset(row, 'id', 'solana');
  if (optionalFlag(row, 'burnt') === true || !isSingle(row)) return [];
  const group = readGroup(row);
  if (collection !== null && group !== collection) rejectRow('grouping', 'names another collection');
  if (group === null) return [];
  const { name, image } = readContent(row);
  // The wallet that holds the token. A frozen or delegated token stays in the wallet of its owner. The owner of an escrowed token is not
  // known: `owner` is then a custody wallet.
  // An endpoint can leave the owner empty; the owner is then not known.
  const owner = optionalAddress(toRow(row['ownership'], 'ownership'), 'owner', 'solana');
  return [
    {
      kind: 'token',
      chain: 'solana',
      contractAddress: group,
      mint,
      ...(name !== null && { name }),
      ...(image !== null && { image }),
      ...(owner !== null && { owner }),
    },
  ];
}

/** Non-fungible: a supply of 1 without decimals, or the ownership model `single` without `token_info`. */
function isSingle(row: VendorRow): boolean {
  const token = optionalRow(row, 'token_info');
  if (token === null) {
    const model = optionalText(toRow(row['ownership'], 'ownership'), 'ownership_model');
    return model === 'single';
  }
  const decimals = optionalInteger(token, 'decimals') ?? 0;
  // A supply can exceed the integers that a double represents exactly, so its text is compared.
  const supply = optionalNumberText(token, 'supply') ?? '1';
  return decimals === 0 && supply === '1';
}

function readGroup(row: VendorRow): string | null {
  for (const value of optionalRows(row, 'grouping')) {
    const group = toRow(value, 'grouping');
    if (group['group_key'] !== 'collection' || group['group_value'] === null) continue;
    // Any asset can claim to belong to a collection. A claim that the collection has not verified does not count.
    if (optionalFlag(group, 'verified') === false) continue;
    const address = parseAddress('solana', requiredText(group, 'group_value'));
    return address ?? rejectRow('grouping.group_value', 'is not an address');
  }
  return null;
}

function readContent(row: VendorRow): { name: string | null; image: string | null; description: string | null } {
  const content = optionalRow(row, 'content') ?? {};
  const metadata = optionalRow(content, 'metadata') ?? {};
  const links = optionalRow(content, 'links') ?? {};
  return {
    name: optionalText(metadata, 'name'),
    image: optionalText(links, 'image') ?? readFirstPicture(content),
    description: optionalText(metadata, 'description'),
  };
}

function readFirstPicture(content: VendorRow): string | null {
  const [first] = optionalRows(content, 'files');
  if (first === undefined) return null;
  const file = toRow(first, 'content.files');
  const mime = optionalText(file, 'mime');
  return mime === null || mime.startsWith('image/') ? optionalText(file, 'uri') : null;
}

async function call(
  upstream: UpstreamClient,
  method: string,
  signal: AbortSignal | undefined,
  params: Record<string, unknown>,
): Promise<unknown> {
  const body = { jsonrpc: '2.0', id: REQUEST_ID, method, params };
  const check = (response: unknown) => readEnvelope(upstream, response);
  const response = await upstream.postJson('', body, { bytesMax: PAGE_BYTES_MAX, check, ...(signal && { signal }) });
  return readEnvelope(upstream, response)['result'];
}

/** Throws UpstreamFailure for an error and for the response to another request, even with the HTTP status 200. */
function readEnvelope(upstream: UpstreamClient, response: unknown): VendorRow {
  const envelope = orMalformed(upstream, () => toRow(response, 'response'));
  const error = orMalformed(upstream, () => optionalRow(envelope, 'error'));
  if (error) {
    const message = String(error['message']).slice(0, ERROR_LENGTH_MAX);
    const code = orMalformed(upstream, () => optionalNumberText(error, 'code'));
    throw new UpstreamFailure(upstream.name, ERROR_REASONS.get(code ?? '') ?? 'rejected', {
      cause: new Error(message),
    });
  }
  if (envelope['id'] !== REQUEST_ID) throw toMalformed(upstream, 'a response to another request');
  return envelope;
}

/** Codes of JSON-RPC errors that are failures of the endpoint and not of the request. */
const ERROR_REASONS: ReadonlyMap<string, UpstreamReason> = new Map([
  ['-32603', 'server-error'],
  ['-32005', 'rate-limited'],
  ['-32001', 'unauthorized'],
]);

const REQUEST_ID = 'mercat';

function readList(upstream: UpstreamClient, value: unknown): { items: readonly unknown[]; limit: number } {
  return orMalformed(upstream, () => {
    const list = toRow(value, 'result');
    const limit = optionalInteger(list, 'limit');
    if (list['items'] === undefined) rejectRow('items', 'is missing');
    return { items: optionalRows(list, 'items'), limit: limit === null || limit < 1 ? PAGE : limit };
  });
}

/** Reads a part of a response that is not one of its rows. If this part is malformed, the complete response counts as malformed. */
function orMalformed<T>(upstream: UpstreamClient, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RowRejection)) throw error;
    throw toMalformed(upstream, error.message);
  }
}
