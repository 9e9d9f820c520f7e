// Reads and writes the JSON of the service. Reading converts each `raw`, the base units of a price, to a bigint, unless amounts are wanted as text. Writing converts each bigint
// to decimal text.

/** How amounts of base units are read: as a bigint, or as the decimal text that the service sends. */
export type Amounts = 'bigint' | 'text';

/** Throws a SyntaxError for text that is not JSON. `npm run generate` checks that the OpenAPI documents use the name `raw` only for base units. */
export function parseJson(text: string, amounts: Amounts = 'bigint'): unknown {
  if (amounts === 'text') return JSON.parse(text);
  return JSON.parse(text, (key, value: unknown) =>
    key === 'raw' && typeof value === 'string' ? BigInt(value) : value,
  );
}

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
}
