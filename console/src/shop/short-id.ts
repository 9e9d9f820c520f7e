/** Shortens an id to its last six characters, such as `…f94e36`, because ids of one kind have the same first characters. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `…${id.slice(-6)}`;
}
