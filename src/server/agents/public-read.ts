// Tools read the public interfaces inside the process, with a function of the type `PublicRead`. A failed tool call throws a `ToolError`.

import type { Json } from './json.ts';
import { memberOf, textMemberOf } from './json.ts';

/** `degraded`: a source could not be read, so data is missing or old. `readAt`: when the data was read, in ms since the epoch. */
export type PublicResponse = { body: Json; degraded: boolean; readAt: number };

/** Reads a path of `/v1` or `/explore/v1` on behalf of one client. Rejects with a ToolError unless the status is 200. */
export type PublicRead = (path: string, query?: Readonly<Record<string, string>>) => Promise<PublicResponse>;

/** A failed tool call. The message is for the agent: what is wrong, and how to correct the call. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

const ADVICE: Readonly<Record<string, string>> = {
  upstream_error: 'The data cannot be read now. Try again in a few seconds',
  unavailable: 'Try again in a few seconds',
};

/** By the message of the error: the tool that finds what was not found. */
const NEXT_TOOL: readonly [message: RegExp, advice: string][] = [
  [/^Order /, 'The rows of list_orders, list_listings and list_activity have the orderId'],
  [/^Token /, 'list_tokens has the tokens of a collection, and search finds a token by name'],
  [/^Collection /, 'Give an id, slug or address: search finds them by name, list_collections lists all'],
];

/**
 * Makes a ToolError of an error response of the public interfaces. The message is that of the response, followed by advice. A parameter is called
 * an argument.
 */
export function toToolError(body: Json): ToolError {
  const error = memberOf(body, 'error');
  const message = (textMemberOf(error, 'message') ?? 'The read failed').replace(/^(Query|Path) parameter/, 'Argument');
  const code = textMemberOf(error, 'code') ?? '';
  const advice = code === 'not_found' ? NEXT_TOOL.find(([what]) => what.test(message))?.[1] : ADVICE[code];
  return new ToolError(advice === undefined ? message : `${message}. ${advice}`);
}
