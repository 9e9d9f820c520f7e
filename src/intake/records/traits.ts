// Parses the traits of a token record. Limits the number of traits and the length of their names and values.

import { JsonNumber } from '../../platform/core/json-text.ts';
import { isStorable } from '../../platform/core/text.ts';
import type { Trait } from '../../market/index/queries/token-metadata.ts';
import { TRAIT_KINDS } from '../../market/index/queries/token-metadata.ts';
import type { Fields } from './fields.ts';
import { isPlainObject, readEnum, rejectField } from './fields.ts';

export const TRAITS_MAX = 100;
export const TRAIT_NAME_MAX = 100;
/**
 * The longest value, in characters. The names and values of traits are keys of an index, and a row of the index has at most 2,700 bytes.
 */
export const TRAIT_VALUE_MAX = 300;
/** The most characters of all names and values of a token, because lists and batches have the traits of a hundred tokens. */
export const TRAITS_CHARACTERS_MAX = 8_192;

const TRAIT_FIELDS: ReadonlySet<string> = new Set(['name', 'value', 'kind']);

/** Each trait is `{name, value, kind}` or the text `Name: Value`. A repeated trait counts once. Null if the field is absent. */
export function readTraitList(fields: Fields, name: string): Trait[] | null {
  const value = fields.values[name] ?? null;
  if (value === null) return null;
  if (!Array.isArray(value)) return rejectField(fields, name, 'must be an array of traits');
  if (value.length > TRAITS_MAX) rejectField(fields, name, `has ${value.length} traits, more than ${TRAITS_MAX}`);
  const traits = new Map<string, Trait>();
  for (const [index, item] of value.entries()) {
    const trait = toTrait(fields, `${name}[${index}]`, item);
    traits.set(JSON.stringify([trait.name, trait.value]), trait);
  }
  const characters = [...traits.values()].reduce((sum, trait) => sum + charactersOf(trait), 0);
  if (characters > TRAITS_CHARACTERS_MAX) {
    rejectField(fields, name, `has ${characters} characters, more than ${TRAITS_CHARACTERS_MAX}`);
  }
  return [...traits.values()];
}

export const charactersOf = ({ name, value }: Pick<Trait, 'name' | 'value'>): number => name.length + value.length;

function toTrait(fields: Fields, position: string, item: unknown): Trait {
  const reject = (why: string) => rejectField(fields, position, why);
  if (typeof item === 'string') {
    const colon = item.indexOf(':');
    if (colon < 0) return reject('a trait in text needs a name and a colon before the value');
    return check({ name: item.slice(0, colon), value: item.slice(colon + 1), kind: 'text' }, reject);
  }
  if (!isPlainObject(item)) return reject('must be an object with name and value');
  const unknown = Object.keys(item).find((key) => !TRAIT_FIELDS.has(key));
  if (unknown !== undefined) return reject(`unknown field ${unknown}`);
  const { name, value } = item;
  const number = value instanceof JsonNumber ? value.text : typeof value === 'number' ? String(value) : null;
  const text = number ?? value;
  if (typeof name !== 'string' || typeof text !== 'string')
    return reject('needs a name, and text or a number as value');
  const kind = readEnum({ values: item, path: `${fields.path}${position}.` }, 'kind', TRAIT_KINDS);
  return check({ name, value: text, kind: kind ?? (number === null ? 'text' : 'number') }, reject);
}

function check({ name, value, kind }: Trait, reject: (why: string) => never): Trait {
  const trait = { name: name.trim(), value: value.trim(), kind };
  if (trait.name === '' || trait.value === '') return reject('name and value must not be empty');
  if (trait.name.length > TRAIT_NAME_MAX) return reject(`the name is longer than ${TRAIT_NAME_MAX} characters`);
  if (trait.value.length > TRAIT_VALUE_MAX) return reject(`the value is longer than ${TRAIT_VALUE_MAX} characters`);
  if (!isStorable(trait.name) || !isStorable(trait.value)) return reject('has characters that cannot be stored');
  return trait;
}
