// Counts the characters of a text, and checks whether PostgreSQL accepts the text.

/** The length in code points, as JSON Schema counts. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}

/** Whether PostgreSQL accepts the text: it has no NUL and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
