// JSON as it was written: a number keeps its literal text, because a double would round what it cannot hold.

/** A JSON number by its literal, such as `19.90`, `1e400` or `9007199254740993`. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Parses JSON with every number as a JsonNumber. Throws for what is not JSON, and for what is nested absurdly deep. */
export function parseJsonText(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? new JsonNumber(context?.source ?? String(value)) : value,
  );
}
