// Reads operations and their parameters from an OpenAPI document, and generates texts for these parameters. The fuzzer sends the texts.

import fc from 'fast-check';

export type ParameterSchema = {
  type: 'string' | 'integer' | 'boolean';
  enum?: string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
};
export type Parameter = {
  name: string;
  in: 'query' | 'path';
  required: boolean;
  schema: ParameterSchema;
  /** The parameter may be given several times. */
  isRepeatable?: boolean;
};
export type Operation = { path: string; parameters: Parameter[] };

type DocumentParameter = Omit<Parameter, 'schema'> & {
  schema: ParameterSchema | { type: 'object' } | { type: 'array'; items: ParameterSchema };
};
type Responses = Record<string, { content?: Record<string, unknown> }>;
type Document = { paths: Record<string, { get?: { parameters?: DocumentParameter[]; responses: Responses } }> };

/** The GET operations in the order of the document. Event streams are left out, because their responses do not end. */
export function readOperations(document: unknown): Operation[] {
  return Object.entries((document as Document).paths).flatMap(([path, item]) =>
    item.get && !('text/event-stream' in (item.get.responses['200']?.content ?? {}))
      ? [{ path, parameters: (item.get.parameters ?? []).map(toTextParameter) }]
      : [],
  );
}

/** Replaces a parameter that is an object (`deepObject`) or a list by a text parameter for one of its members. */
function toTextParameter({ schema, ...parameter }: DocumentParameter): Parameter {
  if (schema.type === 'array') return { ...parameter, schema: schema.items, isRepeatable: true };
  if (schema.type !== 'object') return { ...parameter, schema };
  return {
    ...parameter,
    name: `${parameter.name}[Wind]`,
    schema: { type: 'string', minLength: 1 },
    isRepeatable: true,
  };
}

/** Texts that the schema allows, before percent-encoding. `.` and `..` are left out, because URL parsers remove these segments from paths. */
export function toArbitrary(schema: ParameterSchema): fc.Arbitrary<string> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === 'boolean') return fc.constantFrom('true', 'false');
  if (schema.type === 'integer') {
    return fc.integer({ min: schema.minimum ?? -(2 ** 31), max: schema.maximum ?? 2 ** 31 - 1 }).map(String);
  }
  const { minLength = 0, maxLength = 60, pattern } = schema;
  const bounds = { minLength, maxLength: Math.min(maxLength, 60) };
  const texts = pattern
    ? fc.stringMatching(new RegExp(pattern))
    : fc.oneof(fc.string({ ...bounds, unit: 'grapheme' }), fc.string({ ...bounds, unit: 'binary' }));
  return texts.map((text) => text.toWellFormed()).filter((text) => isAllowedString(schema, text) && !isDots(text));
}

/** Texts that differ little from allowed texts, so that a lenient parser would accept them. The schema may still allow some of them. */
export function toNearMiss(schema: ParameterSchema): fc.Arbitrary<string> {
  const { minimum = 0, maximum = 100, minLength = 0, maxLength = 1_000 } = schema;
  const allowed = toArbitrary(schema);
  const around = (text: string) => [
    ` ${text}`,
    `${text} `,
    `${text}\n`,
    `\0${text}`,
    `"${text}"`,
    `[${text}]`,
    `${text},${text}`,
  ];
  if (schema.enum) {
    return allowed.chain((text) =>
      fc.constantFrom(
        ...around(text),
        text.toUpperCase(),
        text.slice(1),
        `${text}s`,
        `${text.at(0)?.toUpperCase()}${text.slice(1)}`,
      ),
    );
  }
  if (schema.type === 'integer') {
    const fullWidth = (text: string) => text.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
    const spelt = (text: string) => [
      `0${text}`,
      `+${text}`,
      `-${text}`,
      `${text}.0`,
      `${text}e0`,
      `0x${text}`,
      `${text}n`,
      fullWidth(text),
    ];
    return allowed.chain((text) =>
      fc.constantFrom(...around(text), ...spelt(text), String(minimum - 1), String(maximum + 1)),
    );
  }
  const lengths = [minLength - 1, minLength, maxLength, maxLength + 1].filter(
    (length) => length >= 0 && length < 9_000,
  );
  return fc.oneof(
    allowed.chain((text) => fc.constantFrom(...around(text))),
    fc.constantFrom(...lengths).map((length) => 'a'.repeat(length)),
  );
}

export function isValidText({ schema }: Parameter, text: string): boolean {
  if (schema.enum) return schema.enum.includes(text);
  if (schema.type === 'string') return isAllowedString(schema, text);
  if (schema.type === 'boolean') return text === 'true' || text === 'false';
  if (!/^(0|-?[1-9]\d*)$/.test(text)) return false;
  const value = BigInt(text);
  return value >= BigInt(schema.minimum ?? value) && value <= BigInt(schema.maximum ?? value);
}

function isAllowedString({ minLength = 0, maxLength, pattern }: ParameterSchema, text: string): boolean {
  // JSON Schema counts code points, not UTF-16 code units.
  const length = Array.from(text).length;
  if (length < minLength || length > (maxLength ?? length)) return false;
  return pattern === undefined || new RegExp(pattern, 'u').test(text);
}

function isDots(text: string): boolean {
  return text === '.' || text === '..';
}
