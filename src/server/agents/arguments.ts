// Validates the arguments of a tool call. The messages name the valid arguments and values, so that an agent can correct its call.

import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { ArgumentSchema, ArgumentValue, InputSchema, ToolArguments } from './tool.ts';

/** The schema in the form that the SDK takes, with a validator of our own. */
export function toSdkInput(schema: InputSchema): StandardSchemaWithJSON<ToolArguments> {
  const published = () => ({ ...schema });
  return {
    '~standard': {
      version: 1,
      vendor: 'mercat',
      validate: (given) => {
        const parsed = parseArguments(given, schema);
        return typeof parsed === 'string' ? { issues: [{ message: parsed }] } : { value: parsed };
      },
      jsonSchema: { input: published, output: published },
    },
  };
}

/** Returns a message if the arguments do not conform to the schema. */
function parseArguments(given: unknown, { properties, required = [] }: InputSchema): ToolArguments | string {
  const values = new Map<string, unknown>(Object.entries(given ?? {}));
  const known = new Map(Object.entries(properties));
  const unknown = [...values.keys()].find((name) => !known.has(name));
  if (unknown !== undefined) return `${unknown} is not an argument. The arguments are ${[...known.keys()].join(', ')}`;
  const missing = required.find((name) => !values.has(name));
  if (missing !== undefined) return `${missing} is required`;
  const parsed: Record<string, ArgumentValue> = {};
  for (const [name, schema] of known) {
    const value = values.get(name);
    if (value === undefined) continue;
    if (!isAllowed(value, schema)) return `${name} must be ${describe(schema)}`;
    if (!isWellFormed(value)) return `${name} must not contain half of a surrogate pair`;
    parsed[name] = value;
  }
  return parsed;
}

/** Other text cannot be part of a URL. */
function isWellFormed(value: ArgumentValue): boolean {
  if (typeof value === 'object')
    return Object.entries(value)
      .flat()
      .every((text) => text.isWellFormed());
  return typeof value !== 'string' || value.isWellFormed();
}

function isAllowed(value: unknown, schema: ArgumentSchema): value is ArgumentValue {
  if (schema.type === 'boolean') return typeof value === 'boolean';
  if (schema.type === 'object') return isObjectOfTexts(value);
  if (schema.type === 'string') return typeof value === 'string' && (schema.enum?.includes(value) ?? true);
  return typeof value === 'number' && Number.isInteger(value) && value >= schema.minimum && value <= schema.maximum;
}

function isObjectOfTexts(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((member) => typeof member === 'string');
}

function describe(schema: ArgumentSchema): string {
  if (schema.type === 'boolean') return 'true or false';
  if (schema.type === 'object') return 'an object whose values are texts';
  if (schema.type === 'integer') return `an integer from ${schema.minimum} to ${schema.maximum}`;
  return schema.enum ? `one of ${schema.enum.join(', ')}` : 'text';
}
