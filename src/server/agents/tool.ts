// Defines the type of a tool. Creates the two usual kinds of tools: a tool that reads a page of a list, and a tool that reads a single
// resource.

import type { Chains } from '../../platform/core/chains.ts';
import type { JsonObject } from './json.ts';
import { memberOf } from './json.ts';
import type { PublicRead, PublicResponse } from './public-read.ts';
import { ToolError } from './public-read.ts';
import { withUnits } from './units.ts';

/** A JSON Schema. Descriptions are short, because every agent has all definitions in its context. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type ArgumentSchema = { description?: string } & (
  | { type: 'string'; enum?: readonly string[] }
  | { type: 'boolean' }
  | { type: 'integer'; minimum: number; maximum: number }
  /** Texts by name. In a query, `{Hat: 'Cap'}` of the argument `traits` is `traits[Hat]=Cap`. */
  | { type: 'object'; additionalProperties: { type: 'string' } }
);
export type ArgumentSchemas = Readonly<Record<string, ArgumentSchema>>;
export type InputSchema = {
  type: 'object';
  properties: ArgumentSchemas;
  required?: readonly string[];
  additionalProperties: false;
};

export type ArgumentValue = string | number | boolean | Readonly<Record<string, string>>;
export type ToolArguments = Readonly<Record<string, ArgumentValue>>;
export type ToolContext = { read: PublicRead; chains: Chains };

export type AgentTool = {
  name: string;
  description: string;
  input: InputSchema;
  output: JsonSchema;
  /** Returns content that conforms to `output`. Rejects with a ToolError. */
  call(context: ToolContext, given: ToolArguments): Promise<JsonObject>;
};

type ReadToolOptions = {
  name: string;
  description: string;
  /** The path to read. `{name}` stands for an argument. All other arguments become the query. */
  path: string;
  input: ArgumentSchemas;
  /** The arguments that a call must have. Default: those of the path. */
  required?: readonly string[];
};

export const textArgument = (description?: string): ArgumentSchema => ({
  type: 'string',
  ...(description && { description }),
});
export const choiceArgument = (values: readonly string[], description?: string): ArgumentSchema => ({
  type: 'string',
  enum: values,
  ...(description && { description }),
});

/**
 * The schema of an object that has at least the members `required`. `members` has the schemas of some members. The other members have no
 * schema, which saves tokens: the OpenAPI documents describe all members.
 */
export const objectWith = (
  required: readonly string[],
  members: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema => ({
  type: 'object',
  ...(Object.keys(members).length > 0 && { properties: members }),
  required,
});

export const PRICE = objectWith(['raw', 'rawUnit', 'decimal', 'currency']);
export const PRICE_OR_NULL: JsonSchema = { ...PRICE, type: ['object', 'null'] };

/** The members of every result that describe the state of its data. */
const STATE = ['degraded', 'readAt'];

/** The rows of a list unless the agent asks for more. A row of a token with its traits, its listing and its top bid has about 1,800 characters, and an agent reads them all. */
export const ROWS_DEFAULT = 6;

export const PAGE_ARGUMENTS: ArgumentSchemas = {
  limit: { type: 'integer', minimum: 1, maximum: 100 },
  cursor: textArgument(),
};

/** A tool that reads one page of a list. `row` is the schema of a row, with the members that agents need most. */
export function listTool(options: ReadToolOptions & { row: JsonSchema }): AgentTool {
  return {
    ...definitionOf(options),
    output: listOf(options.row),
    call: async ({ read, chains }, given) => {
      const response = await readWith(read, options, { limit: ROWS_DEFAULT, ...given });
      const nextCursor = memberOf(memberOf(response.body, 'pagination'), 'nextCursor');
      return { data: withUnits(memberOf(response.body, 'data'), chains), nextCursor, ...stateOf([response]) };
    },
  };
}

/** A tool that reads one resource. */
export function resourceTool(options: ReadToolOptions & { resource: JsonSchema }): AgentTool {
  return {
    ...definitionOf(options),
    output: resourceOf(options.resource),
    call: async ({ read, chains }, given) => {
      const response = await readWith(read, options, given);
      return { data: withUnits(memberOf(response.body, 'data'), chains), ...stateOf([response]) };
    },
  };
}

export function definitionOf({
  name,
  description,
  path,
  input,
  required = namesIn(path),
}: ReadToolOptions): Omit<AgentTool, 'output' | 'call'> {
  return {
    name,
    description,
    input: {
      type: 'object',
      properties: input,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
  };
}

export function listOf(row: JsonSchema): JsonSchema {
  return objectWith(['data', 'nextCursor', ...STATE], { data: { type: 'array', items: row } });
}

export function resourceOf(data: JsonSchema): JsonSchema {
  return objectWith(['data', ...STATE], { data });
}

/**
 * The state of a result that was made from several responses. The result is degraded if one response is degraded, and as old as the oldest
 * response.
 */
export function stateOf(responses: readonly PublicResponse[]): JsonObject {
  return {
    degraded: responses.some(({ degraded }) => degraded),
    readAt: new Date(Math.min(...responses.map(({ readAt }) => readAt))).toISOString(),
  };
}

export function readWith(
  read: PublicRead,
  { path }: Pick<ReadToolOptions, 'path'>,
  given: ToolArguments,
): Promise<PublicResponse> {
  const inPath = namesIn(path);
  const query = Object.entries(given).filter(([name]) => !inPath.includes(name));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => toSegment(name, given[name]));
  return read(filled, Object.fromEntries(query.flatMap(([name, value]) => toParameters(name, value))));
}

function toParameters(name: string, value: ArgumentValue): [string, string][] {
  if (typeof value !== 'object') return [[name, String(value)]];
  return Object.entries(value).map(([inner, text]) => [`${name}[${inner}]`, text]);
}

function namesIn(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
}

/** A segment of one or two dots would lead to another path. An empty segment would, too. */
function toSegment(name: string, value: ArgumentValue = ''): string {
  if (typeof value === 'object' || /^\.{0,2}$/.test(String(value)))
    throw new ToolError(`Argument ${name} is empty or consists of dots`);
  return encodeURIComponent(value);
}
