// Names ranges of blocks in messages of commands.

/** How many ranges one message names. */
const NAMED_MAX = 5;

export function describeRanges(ranges: readonly { from: number; to: number }[]): string {
  const named = ranges.slice(0, NAMED_MAX).map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
  const more = ranges.length > named.length ? ` and ${ranges.length - named.length} further ranges` : '';
  return `${named.join(', ')}${more}`;
}
