/** The end of an id, such as `…94e36`: ids of one kind begin alike. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `…${id.slice(-6)}`;
}
