// The differences between texts and service that are known and not mended yet. A run goes on after them, and its result names those that it met. With
// `--open`, they count like every other difference.

type OpenDifference = { comparison: RegExp; says: string };

const OPEN: readonly OpenDifference[] = [
  {
    comparison: /^open orders of \S+ in a copy after its removal/,
    says: 'the stream has no event for the removal of a collection, so a copy keeps its orders',
  },
];

/** What is known about a difference. Null for a new one. */
export function findOpen(difference: string): string | null {
  return OPEN.find(({ comparison }) => comparison.test(difference))?.says ?? null;
}

/**
 * What the steps of a run avoid, because the service is known to be wrong there:
 * - A record of an order that has expired changes the order until the sweep has run. So the sweep runs before each step.
 * - Of two listings with one id for two tokens in one import, both stay open in the stream. So an import has one of them.
 *
 * What the model takes over from the service, although the texts say otherwise: the undo of an import takes back what the import covers as one
 * row, although another import covers the same sales (`coverage` in market.ts).
 */
export const SWEEP = 'expiry';
