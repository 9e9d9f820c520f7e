// A check is one thing that the service serves and that the model expects. A comparison makes some of the checks or all of them.

import { Unavailable } from '../errors.ts';
import { ANY } from '../rules/shop.ts';

export type Json = Record<string, unknown>;

export type Check = {
  /** The path, or in words what is compared. */
  path: string;
  /** What a step must touch to change it: the id of a collection, or `shop`, `chain`, `vendor` or `orders`. Null for what is about many collections. */
  of: string | null;
  /** Reads what is served. Resolves with what the model expects, and with what was served. */
  compare: () => Promise<readonly [expected: unknown, served: unknown]>;
};

/** Null if service and model agree. Otherwise a text: the path, what the model expects, and what was served. */
export async function differenceOf({ path, compare }: Check): Promise<string | null> {
  try {
    const [expected, served] = await compare();
    if (isSame(expected, served)) return null;
    return `${path}\n    model:  ${show(expected)}\n    served: ${show(served)}${describePlace(expected, served)}`;
  } catch (error) {
    // On a busy machine, a read may exceed its deadline. Then it is repeated, like one with a difference.
    if (error instanceof Unavailable) return error.message;
    throw error;
  }
}

const CLOSE = 1e-9;

/** Compares as JSON does, except that sums of doubles may differ in their last digits, and that ANY equals everything. */
export function isSame(expected: unknown, served: unknown): boolean {
  if (expected === ANY) return true;
  if (typeof expected === 'number' && typeof served === 'number')
    return Math.abs(expected - served) <= CLOSE * Math.max(1, Math.abs(expected));
  if (Array.isArray(expected) && Array.isArray(served))
    return expected.length === served.length && expected.every((one, index) => isSame(one, served[index]));
  if (isObject(expected) && isObject(served)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(served)]);
    return [...names].every((name) => isSame(expected[name], served[name]));
  }
  return Object.is(expected, served);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function show(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}

/** The first member at which two values differ. */
function describePlace(expected: unknown, served: unknown): string {
  const place = findPlace(expected, served, '');
  return place === '' ? '' : `\n    differs at ${place}`;
}

function findPlace(expected: unknown, served: unknown, place: string): string {
  const names =
    (isObject(expected) && isObject(served)) || (Array.isArray(expected) && Array.isArray(served))
      ? [...new Set([...Object.keys(expected), ...Object.keys(served)])]
      : [];
  for (const name of names) {
    const [a, b] = [expected, served].map((value) => (value as Json)[name]);
    if (!isSame(a, b)) return findPlace(a, b, `${place}.${name}`);
  }
  return place === '' ? '' : `${place}: ${show(expected)} in the model, ${show(served)} served`;
}

export function dataOf(body: unknown): Json {
  return (body as { data: Json }).data;
}

export function rawOf(price: unknown): string | null {
  return price === null || price === undefined ? null : String((price as Json)['raw']);
}

export function assetOf(row: Json): string {
  return String(row['tokenId'] ?? row['mint']);
}

/** What the seller keeps of the best bid. */
export function proceedsOf(topBid: unknown): string | null {
  return topBid === null ? null : rawOf((topBid as Json)['proceeds']);
}
