// Text as it may be stored and counted. It judges no meaning.

/** How many characters as JSON Schema and people count them: code points. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}

/** False for what no database takes as text: NUL, and halves of surrogate pairs. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
