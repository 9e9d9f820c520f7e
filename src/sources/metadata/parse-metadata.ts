// Parses metadata documents. A field whose value has the wrong type or form counts as missing. Fields and limits follow the
// metadata standards of OpenSea (https://docs.opensea.io/docs/metadata-standards) and ERC-7572 (contractURI).

import { isImageUrl } from '../../platform/core/image-url.ts';
import { JsonNumber } from '../../platform/core/json-text.ts';
import { isStorable } from '../../platform/core/text.ts';
import { DESCRIPTION_MAX, NAME_MAX, URL_MAX } from '../../intake/records/fields.ts';
import type { Trait } from '../../market/index/queries/token-metadata.ts';
import { parseExactJson } from '../upstreams/exact-json.ts';
import { isRow } from '../upstreams/response-rows.ts';
import { readTraits } from '../upstreams/traits.ts';

export type TokenDocument = {
  name: string | null;
  image: string | null;
  description: string | null;
  traits: readonly Trait[];
};

export type CollectionDocument = {
  name: string | null;
  image: string | null;
  banner: string | null;
  description: string | null;
  royaltyBps: number | null;
};

type Fields = Readonly<Record<string, unknown>>;

const BASIS_POINTS_MAX = 10_000;

/** Null when the body is not a JSON object in UTF-8, or is nested too deeply. */
export function parseTokenDocument(body: Uint8Array): TokenDocument | null {
  const fields = parseObject(body);
  if (fields === null) return null;
  return {
    name: readText(fields['name'], NAME_MAX),
    image:
      readImage(fields['image']) ??
      readImage(fields['image_url']) ??
      readDrawing(fields['image_data']) ??
      readImage(fields['imageUrl']),
    description: readText(fields['description'], DESCRIPTION_MAX),
    traits: readTraits(fields['attributes'] ?? fields['traits'] ?? fields['properties']),
  };
}

/** Null when the body is not a JSON object in UTF-8, or is nested too deeply. */
export function parseCollectionDocument(body: Uint8Array): CollectionDocument | null {
  const fields = parseObject(body);
  if (fields === null) return null;
  return {
    name: readText(fields['name'], NAME_MAX),
    image: readImage(fields['image']) ?? readImage(fields['image_url']),
    banner: readImage(fields['banner_image']) ?? readImage(fields['banner_image_url']) ?? readImage(fields['banner']),
    description: readText(fields['description'], DESCRIPTION_MAX),
    royaltyBps: readBasisPoints(fields['seller_fee_basis_points']),
  };
}

/** Whether the document says anything about its token or collection. */
export function hasFields(document: TokenDocument | CollectionDocument): boolean {
  return Object.values(document).some((value) => (Array.isArray(value) ? value.length > 0 : value !== null));
}

function parseObject(body: Uint8Array): Fields | null {
  try {
    const parsed = parseExactJson(body);
    return isRow(parsed) ? parsed : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

function readText(value: unknown, lengthMax: number): string | null {
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text !== 'string' || !isStorable(text)) return null;
  return text.trim().slice(0, lengthMax).toWellFormed() || null;
}

/**
 * A URL whose scheme is not allowed for images counts as missing. A URL that is too long also counts as missing, because a truncated URL is
 * a different URL.
 */
function readImage(value: unknown): string | null {
  if (typeof value !== 'string' || !isStorable(value)) return null;
  const url = value.trim();
  return url.length <= URL_MAX && isImageUrl(url) ? url : null;
}

/** SVG text becomes a data URI. */
function readDrawing(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  if (!value.trimStart().startsWith('<svg')) return readImage(value);
  return readImage(`data:image/svg+xml;base64,${Buffer.from(value).toString('base64')}`);
}

function readBasisPoints(value: unknown): number | null {
  const basisPoints = value instanceof JsonNumber ? Number(value.text) : value === undefined ? null : Number(value);
  if (basisPoints === null || !Number.isInteger(basisPoints)) return null;
  return basisPoints >= 0 && basisPoints <= BASIS_POINTS_MAX ? basisPoints : null;
}
