// Reads and writes the JSON of the service. Reading converts each `raw`, the base units of a price, to a bigint. Writing converts each bigint
// to decimal text.

/** Throws a SyntaxError for text that is not JSON. `npm run generate` checks that the OpenAPI documents use the name `raw` only for base units. */
export function parseJson(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) =>
    key === 'raw' && typeof value === 'string' ? BigInt(value) : value,
  );
}

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
}
