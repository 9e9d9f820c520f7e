// Generates JSON text from a JSON Schema: text that the schema allows, text that differs from allowed text in
// one place, and text that is not JSON. A value may be a placeholder, such as `{{productId:2}}`. The fuzzer replaces a placeholder by an id
// from an earlier response.

import fc from 'fast-check';

export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  contentSchema?: JsonSchema;
};

export type BodyOptions = {
  schemas: Readonly<Record<string, JsonSchema>>;
  /** Arbitraries of properties that the schema describes too loosely, by name. */
  properties: Readonly<Record<string, fc.Arbitrary<unknown>>>;
};

/** JSON texts for a request body. `examples` are valid values. The texts are made from these values and from the schema. */
export function bodyTexts(
  schema: JsonSchema,
  examples: readonly unknown[],
  options: BodyOptions,
): fc.Arbitrary<string> {
  const valid = toJson(schema, options);
  const known = examples.length === 0 ? valid : fc.constantFrom(...examples);
  return fc.oneof(
    { weight: 4, arbitrary: valid.map((value) => stringify(value)) },
    { weight: 4, arbitrary: known.map((value) => stringify(value)) },
    { weight: 3, arbitrary: changed(fc.oneof(valid, known)).map((value) => stringify(value)) },
    { weight: 1, arbitrary: known.chain((value) => notJson(stringify(value))) },
  );
}

/** JSON values that the schema allows, as far as its keywords are known here. */
export function toJson(schema: JsonSchema, options: BodyOptions): fc.Arbitrary<unknown> {
  const { $ref } = schema;
  if ($ref !== undefined) return toJson(options.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, options);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => toJson({ ...schema, type }, options)));
  if (schema.type === 'object' || schema.properties) return toObject(schema, options);
  const { anyOf, oneOf, ...rest } = schema;
  const alternatives = anyOf ?? oneOf;
  if (alternatives) return fc.oneof(...alternatives.map((one) => toJson({ ...rest, ...one }, options)));
  return toScalar(schema, options);
}

function toObject(schema: JsonSchema, options: BodyOptions): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(
    ([name, one]) => [name, options.properties[name] ?? toJson(one, options)] as const,
  );
  const object = (requiredKeys: readonly string[], excluded: readonly string[] = []) => {
    const included = Object.fromEntries(fields.filter(([name]) => !excluded.includes(name)));
    return fc.record(included, { requiredKeys: requiredKeys.filter((name) => Object.hasOwn(included, name)) });
  };
  const alternatives = schema.anyOf ?? schema.oneOf ?? [];
  if (alternatives.length === 0) return object(required);
  const keysOf = (one: JsonSchema) => one.required ?? [];
  return fc.oneof(
    ...alternatives.map((one) => {
      // Only one alternative of `oneOf` may hold, so the keys of the others are left out.
      const others = schema.oneOf ? alternatives.filter((other) => other !== one).flatMap(keysOf) : [];
      return object([...required, ...keysOf(one)], others);
    }),
  );
}

function toScalar(schema: JsonSchema, options: BodyOptions): fc.Arbitrary<unknown> {
  const { minimum, maximum, minItems = 0, maxItems = 4 } = schema;
  switch (schema.type) {
    case 'integer':
      return fc.integer({ min: minimum ?? -(2 ** 31), max: maximum ?? 2 ** 31 - 1 });
    case 'number':
      return fc.double({ min: minimum ?? -1e12, max: maximum ?? 1e12, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(toJson(schema.items ?? {}, options), { minLength: minItems, maxLength: Math.min(maxItems, 6) });
    case 'string':
      return toText(schema);
    case undefined:
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function toText({ minLength = 0, maxLength = 60, pattern, format }: JsonSchema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.oneof(fc.date({ noInvalidDate: true }).map(toTime), fc.constantFrom(...TIMES));
  const bounds = { minLength, maxLength: Math.min(maxLength, 60) };
  const texts = pattern
    ? textsMatching(pattern).map((text) => text.slice(0, maxLength))
    : fc.oneof(
        fc.string({ ...bounds, unit: 'grapheme' }),
        fc.string({ ...bounds, unit: 'binary' }),
        fc.constantFrom(...HARMFUL_VALUES).filter((text) => text.length >= minLength && text.length <= maxLength),
        fc.constant('x'.repeat(Math.min(maxLength, 120_000))),
      );
  return texts;
}

const matchingTexts = new Map<string, fc.Arbitrary<string>>();

/** Each arbitrary is made once, because fast-check needs up to 0.1 s to make one. */
function textsMatching(pattern: string): fc.Arbitrary<string> {
  const texts = matchingTexts.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
  matchingTexts.set(pattern, texts);
  return texts;
}

const TIMES = [
  '2026-06-01T00:00:00.000Z',
  '2026-06-01T00:00:00+14:00',
  '9999-12-31T23:59:59.999Z',
  '0001-01-01T00:00:00Z',
];
const toTime = (date: Date) => date.toISOString();

/** Texts on which parsers, databases and templates may fail. */
export const HARMFUL_VALUES = [
  ' ',
  '\0',
  'a\0b',
  '\u2028',
  '\u202e',
  '\ufeff',
  '\ud83d\ude00',
  'e\u0301',
  '__proto__',
  'constructor',
  "' or ''='",
  '$1',
  '%00',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '[[[[',
  '{"a":1}',
  '[1,2]',
  'null',
  'NaN',
  '-0',
  '1e400',
  'a\r\nx-injected: 1',
  '\u009b31m',
];

const WRONG_VALUES = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), '', [], {}, [[]], [null], { a: null }),
  fc.constantFrom(...HARMFUL_VALUES),
  fc.jsonValue({ maxDepth: 3 }),
  fc.bigInt().map(String),
  fc.constantFrom(300, 1_001, 20_001).map((length) => 'x'.repeat(length)),
);

/** Values in which one property, at any depth, is replaced, removed or added. */
function changed(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(values, fc.nat(), WRONG_VALUES, fc.constantFrom('replace', 'remove', 'add'))
    .map(([value, index, wrong, action]) => {
      const copy: unknown = structuredClone(value);
      const objects = objectsIn(copy);
      const object = objects[index % Math.max(1, objects.length)];
      if (!object) return wrong;
      const keys = Object.keys(object);
      const key = keys[Math.floor(index / objects.length) % Math.max(1, keys.length)] ?? 'extra';
      if (action === 'add') object[`extra${index % 3}`] = wrong;
      else if (action === 'remove') delete object[key];
      else object[key] = wrong;
      return copy;
    });
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner];
}

/** Texts that are no JSON, or JSON in a form that parsers treat in different ways. */
function notJson(text: string): fc.Arbitrary<string> {
  return fc.oneof(
    fc.nat({ max: text.length }).map((length) => text.slice(0, length)),
    fc.constantFrom(
      '',
      '[]',
      'null',
      '"x"',
      '1e999999',
      '{"a":1,"a":2}',
      `\ufeff${text}`,
      `${text}${text}`,
      text.replace('{', '{"__proto__":{"x":1},'),
      `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
      `{"name":${'9'.repeat(2_000)}}`,
      '{"price":1e400,"name":"a"}',
      '{"name":"\\ud800","price":"1"}',
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
}

function stringify(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}
