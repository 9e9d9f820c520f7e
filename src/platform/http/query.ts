// Validates query strings by the schema that documents them. A value outside its limits is rejected, not clamped. The validator ignores
// parameters that the schema does not name: an interface that rejects them uses `findUnknownParameters`.

import type { FastifyRequest, FastifySchemaCompiler } from 'fastify';
import type { Chains } from '../core/chains.ts';
import { countCharacters } from '../core/text.ts';
import { ServiceError } from '../core/errors.ts';

/** The values of each parameter, in the order of the query. A value that does not decode is null. */
export type RawQuery = Record<string, (string | null)[]>;

type ParameterSchema = {
  type?: string;
  /** For a parameter that is an object: the largest number of names in brackets. */
  maxProperties?: number;
  /** For a parameter that is a list: its values, which are texts with a pattern, and the largest number of them. */
  items?: ParameterSchema;
  maxItems?: number;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  /** A text with a pattern has an example, which the message about another text names. */
  pattern?: string;
  examples?: string[];
  default?: unknown;
};
type QuerySchema = { properties: Record<string, ParameterSchema>; required?: string[] };

/** Splits a query string. The number of parameters needs no limit here, because the length of a request target is limited. */
export function splitQuery(text: string): RawQuery {
  const query: RawQuery = Object.create(null) as RawQuery;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const split = pair.indexOf('=');
    const name = decode(split < 0 ? pair : pair.slice(0, split));
    if (name !== null) (query[name] ??= []).push(decode(split < 0 ? '' : pair.slice(split + 1)));
  }
  return query;
}

/** A validator compiler for `querystring` schemas. A parameter named `chain` accepts the ids of the service's chains. */
export function createQueryValidator(chains: Chains): FastifySchemaCompiler<QuerySchema> {
  return ({ schema }) => {
    const parameters = Object.entries(schema.properties);
    const required = new Set(schema.required);
    return (raw: RawQuery) => {
      const value: Record<string, unknown> = {};
      for (const [name, parameter] of parameters) {
        if (parameter.type === 'object') {
          const parsed = parseObject(name, raw, parameter);
          if (parsed instanceof ServiceError) return { error: parsed };
          if (parsed) value[name] = parsed;
          continue;
        }
        const texts = raw[name];
        if (texts !== undefined && parameter.items) {
          const parsed = parseList(name, texts, parameter);
          if (parsed instanceof ServiceError) return { error: parsed };
          value[name] = parsed;
          continue;
        }
        if (texts === undefined) {
          if (required.has(name)) return { error: toValidationError(name, 'is missing') };
          if (parameter.default !== undefined) value[name] = parameter.default;
          continue;
        }
        const parsed = texts.length === 1 ? parseParameter(name, texts[0] ?? null, parameter, chains) : undefined;
        if (parsed === undefined) return { error: toValidationError(name, toMessage(texts, parameter)) };
        value[name] = parsed;
      }
      return { value };
    };
  };
}

/**
 * The parameters of a request that its operation does not have. An interface rejects them, because a misspelt filter would otherwise return
 * every row. None for a route that is not in the OpenAPI document.
 */
export function findUnknownParameters({ query, routeOptions: { schema } }: FastifyRequest): string[] {
  if (!schema || schema.hide) return [];
  const { properties = {} } = (schema.querystring ?? {}) as Partial<QuerySchema>;
  return Object.keys(query as RawQuery).filter(
    (key) => !Object.hasOwn(properties, key) && properties[key.split('[')[0] ?? '']?.type !== 'object',
  );
}

/** The values of a parameter that is an object, by the name in brackets. Sorted, so that the order in a query makes no difference. */
export type ObjectParameter = ReadonlyMap<string, readonly string[]>;

/** The largest number of values of a parameter that is an object, counted over all its names. */
const OBJECT_VALUES_MAX = 50;

/** Parses `name[x]=a&name[x]=b&name[y]=c`. Undefined if there is no such parameter. */
function parseObject(
  name: string,
  raw: RawQuery,
  { maxProperties = Infinity }: ParameterSchema,
): ObjectParameter | ServiceError | undefined {
  const names = Object.keys(raw).filter((key) => key === name || key.startsWith(`${name}[`));
  if (names.length === 0) return undefined;
  const toError = (message: string) => toValidationError(name, message);
  const object = new Map<string, string[]>();
  for (const key of names.toSorted()) {
    const inner = key.slice(name.length + 1, -1);
    if (!key.endsWith(']') || inner === '') return toError(`must be written as ${name}[Name]=Value`);
    const values = new Set<string>();
    for (const text of raw[key] ?? []) {
      if (text === null || text === '') return toError(text === '' ? 'is empty' : 'must be well-formed text');
      values.add(text);
    }
    object.set(inner, [...values].sort());
  }
  if (object.size > maxProperties) return toError(`has more than ${maxProperties} names`);
  const count = [...object.values()].reduce((sum, values) => sum + values.length, 0);
  return count > OBJECT_VALUES_MAX ? toError(`has more than ${OBJECT_VALUES_MAX} values`) : object;
}

/** Parses `name=a&name=b`. Sorted and without repetitions, so that queries with one meaning have one form. */
function parseList(
  name: string,
  texts: readonly (string | null)[],
  { items = {}, maxItems = Infinity }: ParameterSchema,
): string[] | ServiceError {
  const pattern = new RegExp(items.pattern ?? '');
  const list = new Set<string>();
  for (const text of texts) {
    if (text === null || !pattern.test(text)) return toValidationError(name, toMessage([text], items));
    list.add(text);
  }
  return list.size > maxItems ? toValidationError(name, `has more than ${maxItems} values`) : [...list].sort();
}

function parseParameter(
  name: string,
  text: string | null,
  schema: ParameterSchema,
  chains: Chains,
): string | number | boolean | undefined {
  if (text === null || text === '') return undefined;
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  if (schema.type === 'integer') {
    if (!/^(0|-?[1-9]\d{0,15})$/.test(text)) return undefined;
    const value = Number(text);
    return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity) ? value : undefined;
  }
  if (name === 'chain') return chains.has(text) ? text : undefined;
  if (schema.enum && !schema.enum.includes(text)) return undefined;
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(text)) return undefined;
  return countCharacters(text) <= (schema.maxLength ?? Infinity) ? text : undefined;
}

function toValidationError(name: string, message: string): ServiceError {
  return new ServiceError('bad_request', `Query parameter ${name} ${message}`, {
    param: name,
    details: [{ path: name, message }],
  });
}

function toMessage(texts: (string | null)[], schema: ParameterSchema): string {
  if (texts.length > 1) return 'is given more than once';
  return texts[0] === '' ? 'is empty' : `must be ${describe(schema)}`;
}

function describe(schema: ParameterSchema): string {
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  if (schema.type === 'boolean') return 'true or false';
  if (schema.type === 'integer') return `an integer from ${schema.minimum} to ${schema.maximum}`;
  if (schema.pattern !== undefined) return `text of the form ${schema.examples?.[0]}`;
  return schema.maxLength === undefined
    ? 'well-formed text'
    : `well-formed text of at most ${schema.maxLength} characters`;
}

/** Decodes percent-encoded text, with `+` as a space. Null if the result is not UTF-8. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
