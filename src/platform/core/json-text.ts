// Parses JSON so that numbers keep their literal text, because a double would round large numbers.

/** A JSON number as its literal text, such as `19.90`, `1e400` or `9007199254740993`. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Throws when the text is not JSON, or is nested too deeply for the parser. */
export function parseJsonText(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? new JsonNumber(context?.source ?? String(value)) : value,
  );
}

/** The shortest value of an array and its comma, as in `[1,1]`. */
const VALUE_LENGTH_MIN = 2;
const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = ['"', '\\', ',', '[', '{'].map((one) => one.charCodeAt(0));

/**
 * Whether JSON text may have more than `valuesMax` values. Such text is rejected before it is parsed, because the time of `parseJsonText` is about a
 * microsecond for each value. Reads the text once and does not check whether it is JSON. An empty array or object counts as two values.
 */
export function hasMoreValues(text: string, valuesMax: number): boolean {
  if (text.length <= VALUE_LENGTH_MIN * valuesMax) return false;
  let count = 1;
  for (let index = 0; index < text.length && count <= valuesMax; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = findClosingQuote(text, index + 1);
    else if (code === COMMA || code === BRACKET || code === BRACE) count += 1;
  }
  return count > valuesMax;
}

/** The offset of the first quote from `from` on that has an even number of backslashes before it. The length of the text if there is none. */
function findClosingQuote(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (quote - backslashes > from && text.charCodeAt(quote - backslashes - 1) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote;
  }
  return text.length;
}

/** True for a JSON object. A `JsonNumber`, the form of a number in a parsed body, is not a JSON object. */
export function isJsonObject(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !(body instanceof JsonNumber);
}
