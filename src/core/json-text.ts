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

/** True for a JSON object. A `JsonNumber`, the form of a number in a parsed body, is not a JSON object. */
export function isJsonObject(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !(body instanceof JsonNumber);
}
