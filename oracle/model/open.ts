// The differences between texts and service that are known and not mended yet. A run goes on after them, and its result names those that it met. With
// `--open`, they count like every other difference.

type OpenDifference = { comparison: RegExp; says: string };

const OPEN: readonly OpenDifference[] = [];

/** What is known about a difference. Null for a new one. */
export function findOpen(difference: string): string | null {
  return OPEN.find(({ comparison }) => comparison.test(difference))?.says ?? null;
}
