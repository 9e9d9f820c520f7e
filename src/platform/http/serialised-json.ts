// Lets a response body have members that are JSON text already, because other code than `JSON.stringify` has serialised them.

/** A member of a response body that is JSON text already. */
export class SerialisedJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Called by `JSON.stringify`, which cannot insert the text. */
  toJSON(): never {
    throw new TypeError('serialised JSON must be a member of the response body itself');
  }
}

/** The JSON text of a response body. Throws a TypeError if a `SerialisedJson` is in the body, but is not a member of the body itself. */
export function toJsonText(body: unknown): string {
  const members: [string, unknown][] = typeof body === 'object' && body !== null ? Object.entries(body) : [];
  if (!members.some(([, value]) => value instanceof SerialisedJson)) return JSON.stringify(body);
  const texts = members
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${JSON.stringify(name)}:${value instanceof SerialisedJson ? value.text : JSON.stringify(value)}`,
    );
  return `{${texts.join(',')}}`;
}
