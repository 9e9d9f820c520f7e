// Reads the traits of a token from metadata in the form of OpenSea's metadata standard
// (https://docs.opensea.io/docs/metadata-standards).

import { JsonNumber } from '../../platform/core/json-text.ts';
import { isStorable } from '../../platform/core/text.ts';
import {
  charactersOf,
  TRAIT_NAME_MAX,
  TRAIT_VALUE_MAX,
  TRAITS_CHARACTERS_MAX,
  TRAITS_MAX,
} from '../../intake/records/traits.ts';
import type { Trait, TraitKind } from '../../market/index/queries/token-metadata.ts';
import type { VendorRow } from './response-rows.ts';
import { isRow } from './response-rows.ts';

/**
 * Reads the array form (`[{trait_type, value, display_type}]`) and the object form (`{name: value}` or `{name: {value}}`). Returns at most
 * TRAITS_MAX traits and TRAITS_CHARACTERS_MAX characters, without duplicates.
 */
export function readTraits(value: unknown): Trait[] {
  const traits = new Map<string, Trait>();
  let characters = 0;
  for (const [name, traitValue, display] of listTraits(value)) {
    const trait = toTrait(name, traitValue, display);
    if (!trait || traits.size >= TRAITS_MAX) continue;
    const key = JSON.stringify([trait.name, trait.value]);
    if (!traits.has(key)) characters += charactersOf(trait);
    if (characters > TRAITS_CHARACTERS_MAX) break;
    traits.set(key, trait);
  }
  return [...traits.values()];
}

type RawTrait = [name: unknown, value: unknown, display: unknown];

function listTraits(value: unknown): RawTrait[] {
  if (Array.isArray(value)) return value.filter(isRow).map(toRawTrait);
  if (!isRow(value)) return [];
  return Object.entries(value).map(([name, one]): RawTrait => {
    return isRow(one) ? [name, one['value'], one['display_type']] : [name, one, undefined];
  });
}

function toRawTrait(trait: VendorRow): RawTrait {
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
