// The options of `npm run oracle`. Each option takes a whole number.

import { parseArgs } from 'node:util';

const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** The default and the largest value of each option. */
const OPTIONS = {
  blocks: { fallback: 3_000, max: UNBOUNDED },
  orders: { fallback: 500, max: UNBOUNDED },
  /** Of 100 orders, this many are mirrored listings. The others are orders of the service. */
  mirrored: { fallback: 50, max: 100 },
  bids: { fallback: 300, max: UNBOUNDED },
  kills: { fallback: 20, max: UNBOUNDED },
  reorganisations: { fallback: 60, max: UNBOUNDED },
  'reorg-depth': { fallback: 60, max: UNBOUNDED },
  seed: { fallback: 1, max: UNBOUNDED },
  /**
   * A run has two services (two-services.ts). Of 1,000 requests of the first service to its first endpoint, this many fail or get a wrong
   * response.
   */
  faults: { fallback: 20, max: 1_000 },
};

export type OracleArguments = Record<keyof typeof OPTIONS, number>;

export const USAGE = `npm run oracle -- ${Object.entries(OPTIONS)
  .map(([name, { fallback }]) => `[--${name} ${fallback}]`)
  .join(' ')}
`;

/** Throws an error with a message for the user if an option is unknown or its value is not accepted. */
export function parseOracleArguments(args: readonly string[]): OracleArguments {
  const options = Object.fromEntries(Object.keys(OPTIONS).map((name) => [name, { type: 'string' }] as const));
  const { values } = parseArgs({ args: [...args], options });
  const numbers = Object.entries(OPTIONS).map(([name, { fallback, max }]) => [
    name,
    parseNumber(name, values[name] ?? String(fallback), max),
  ]);
  return Object.fromEntries(numbers) as OracleArguments;
}

function parseNumber(name: string, text: string, max: number): number {
  if (/^\d+$/.test(text) && Number(text) <= max) return Number(text);
  const bound = max === UNBOUNDED ? '' : ` of at most ${max}`;
  throw new Error(`--${name} takes a whole number${bound}`);
}
