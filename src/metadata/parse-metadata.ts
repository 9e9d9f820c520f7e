// Parses metadata documents. A document may have any form, so a field of another form counts as missing. Fields and limits follow the
// metadata standards of OpenSea (https://docs.opensea.io/docs/metadata-standards) and ERC-7572 (contractURI).

import { isImageUrl } from '../core/image-url.ts';
import { JsonNumber } from '../core/json-text.ts';
import { isStorable } from '../core/text.ts';
import { DESCRIPTION_MAX, NAME_MAX, URL_MAX } from '../intake/records/fields.ts';
import type { Trait, TraitKind } from '../market/queries/token-metadata.ts';
import { parseExactJson } from '../upstreams/exact-json.ts';

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

export const TRAITS_MAX = 100;
export const TRAIT_NAME_MAX = 100;
/** The names and values of traits are keys of an index, whose rows have at most 2,700 bytes. */
export const TRAIT_VALUE_MAX = 300;
const BASIS_POINTS_MAX = 10_000;

/** Null when the body is not a JSON object in UTF-8, or is nested too deep. */
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

/** Null when the body is not a JSON object in UTF-8, or is nested too deep. */
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

function parseObject(body: Uint8Array): Fields | null {
  try {
    const parsed = parseExactJson(body);
    return isObject(parsed) ? parsed : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

function readText(value: unknown, lengthMax: number): string | null {
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text !== 'string' || !isStorable(text)) return null;
  return text.trim().slice(0, lengthMax).toWellFormed() || null;
}

/** A URL that is too long or of another scheme counts as missing, because half of a URL is another URL. */
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

/**
 * Reads the array form (`[{trait_type, value, display_type}]`) and the object form (`{name: value}` or `{name: {value}}`). Returns at most
 * TRAITS_MAX traits, without duplicates.
 */
export function readTraits(value: unknown): Trait[] {
  const traits = new Map<string, Trait>();
  for (const [name, traitValue, display] of listTraits(value)) {
    const trait = toTrait(name, traitValue, display);
    if (trait && traits.size < TRAITS_MAX) traits.set(JSON.stringify([trait.name, trait.value]), trait);
  }
  return [...traits.values()];
}

type RawTrait = [name: unknown, value: unknown, display: unknown];

function listTraits(value: unknown): RawTrait[] {
  if (Array.isArray(value)) return value.filter(isObject).map(toRawTrait);
  if (!isObject(value)) return [];
  return Object.entries(value).map(([name, one]): RawTrait => {
    return isObject(one) ? [name, one['value'], one['display_type']] : [name, one, undefined];
  });
}

function toRawTrait(trait: Fields): RawTrait {
  return [trait['trait_type'] ?? trait['name'] ?? trait['key'] ?? 'Property', trait['value'], trait['display_type']];
}

/** Null for a value that is neither text, a number nor a boolean, and for a name or value that is empty or too long. */
function toTrait(name: unknown, value: unknown, display: unknown): Trait | null {
  const text = typeof value === 'boolean' ? String(value) : value instanceof JsonNumber ? value.text : value;
  if (typeof name !== 'string' || typeof text !== 'string') return null;
  const trait = { name: name.trim(), value: text.trim(), kind: toKind(value, display) };
  const isValid = [
    [trait.name, TRAIT_NAME_MAX],
    [trait.value, TRAIT_VALUE_MAX],
  ].every(([part, max]) => String(part) !== '' && String(part).length <= Number(max) && isStorable(String(part)));
  return isValid ? trait : null;
}

const NUMBER_DISPLAYS: ReadonlySet<unknown> = new Set(['number', 'boost_number', 'boost_percentage']);

function toKind(value: unknown, display: unknown): TraitKind {
  const isNumber = value instanceof JsonNumber;
  if (display === 'date' && isNumber) return 'date';
  return isNumber || (NUMBER_DISPLAYS.has(display) && Number.isFinite(Number(value))) ? 'number' : 'text';
}
