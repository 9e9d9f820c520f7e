// Makes the methods of a client from the table of its operations, which is generated from the OpenAPI document.

import { Pages } from './pages.ts';
import type { CallOptions, Received, Request, Transport } from './transport.ts';

/**
 * `read`: has no effect. `list`: a read in pages. `keyed`: a change that accepts an idempotency key. `write`: a change that accepts no
 * idempotency key. `hasBody`: parameters that are in neither `path` nor `query` are sent as JSON.
 */
export type Operation = {
  method: string;
  path: string;
  kind: 'read' | 'list' | 'keyed' | 'write';
  query?: readonly string[];
  hasBody?: true;
};

export type Operations = Readonly<Record<string, Operation>>;

export type WriteOptions = CallOptions & {
  /** Identifies this change, so that a repetition has no second effect. Default: a random key for each call. */
  idempotencyKey?: string;
  /** Makes the change only if the resource still has this ETag. */
  ifMatch?: string;
};

type Parameters = Readonly<Record<string, unknown>>;
/** Converts a response to the result of the call. */
type Convert = (received: Received) => unknown;

/** Makes the methods of a client. `Methods` is the type that was generated together with the table `operations`. */
export function createCalls<Methods>(transport: Transport, operations: Operations, convert: Convert): Methods {
  const methods: Record<string, unknown> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const send = async (parameters: Parameters, options?: WriteOptions) =>
      convert(await transport.send(toRequest(operation, parameters, options), options));
    methods[name] =
      operation.kind === 'list'
        ? toList(send)
        : (parameters: Parameters = {}, options?: WriteOptions) => send(parameters, options);
  }
  return methods as Methods;
}

type Page = { data: readonly unknown[]; pagination: { nextCursor: string | null } };

const toList =
  (send: (parameters: Parameters, options?: CallOptions) => Promise<unknown>) =>
  (parameters: Parameters = {}, options?: CallOptions) =>
    new Pages((cursor) => send({ ...parameters, ...(cursor !== null && { cursor }) }, options) as Promise<Page>);

function toRequest(operation: Operation, parameters: Parameters, options: WriteOptions = {}): Request {
  const { method, kind, query = [], hasBody } = operation;
  const rest = { ...parameters };
  const take = (name: string) => {
    const value = rest[name];
    delete rest[name];
    return value;
  };
  const path = operation.path.replace(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(String(take(name))));
  const search = toSearch(query.map((name) => [name, take(name)]));
  const { ifMatch, idempotencyKey = kind === 'keyed' ? newIdempotencyKey() : undefined } = options;
  return {
    method,
    target: path + search,
    ...(hasBody && { body: rest }),
    headers: {
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    },
    isRepeatable: kind !== 'write',
  };
}

/** 128 random bits. `crypto.randomUUID` would not exist on a page that is served by plain http. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A value that is a list becomes one parameter for each element. The fields of an object become parameters named `name[field]`. */
export function toSearch(parameters: readonly (readonly [name: string, value: unknown])[]): string {
  const search = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    if (Array.isArray(value)) for (const one of value) add(name, one);
    else if (typeof value === 'object') for (const [field, one] of Object.entries(value)) add(`${name}[${field}]`, one);
    else search.append(name, `${value as string | number | boolean | bigint}`);
  };
  for (const [name, value] of parameters) add(name, value);
  const text = search.toString();
  return text && `?${text}`;
}
