// `npm run oracle`: performs a run and prints its result as a table. In a run, two services follow one chain. The exit code is 1 if a
// listing differs from the chain, or if the rows of the two services differ.

import { parseArgs } from 'node:util';
import { describeResult } from './run/report.ts';
import { runOracle } from './run/run.ts';
import { createTwoServices } from './run/two-services.ts';

const DEFAULTS = {
  blocks: '3000',
  orders: '500',
  /** The number of mirrored listings in a hundred orders. */
  mirrored: '50',
  kills: '20',
  reorganisations: '60',
  'reorg-depth': '60',
  seed: '1',
  /** How many of 1,000 requests to the endpoint of the first service fail or get a wrong response. */
  faults: '20',
} as const;

const USAGE = `npm run oracle -- ${Object.entries(DEFAULTS)
  .map(([name, value]) => `[--${name} ${value}]`)
  .join(' ')}
`;

const values = readArguments();

const numberOf = (name: keyof typeof DEFAULTS): number => {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  return endWithUsage(`--${name} takes a whole number`);
};

const seed = numberOf('seed');
const services = createTwoServices({ seed, faultShare: numberOf('faults') / 1_000 });
const startedAt = performance.now();
try {
  const result = await runOracle({
    seed,
    blocks: numberOf('blocks'),
    orders: numberOf('orders'),
    mirrorShare: numberOf('mirrored') / 100,
    kills: numberOf('kills'),
    reorganisations: numberOf('reorganisations'),
    reorgDepthMax: numberOf('reorg-depth'),
    followers: services.settings,
    onProgress: (line) => process.stderr.write(`${line}, ${seconds()} s\n`),
  });
  process.stdout.write(describeResult(result));
  process.stdout.write(`faults of the endpoint  ${JSON.stringify(services.faults())}\nseconds  ${seconds()}\n`);
  process.exitCode = result.findings.length + result.differentDigests.length > 0 ? 1 : 0;
} finally {
  await services.close();
}

function seconds(): number {
  return Math.round((performance.now() - startedAt) / 1_000);
}

function readArguments(): Partial<Record<string, string>> {
  if (process.argv.includes('--help')) endWithUsage();
  try {
    const options = Object.fromEntries(
      Object.entries(DEFAULTS).map(([name, value]) => [name, { type: 'string', default: value }] as const),
    );
    return parseArgs({ options }).values;
  } catch (error) {
    return endWithUsage(error instanceof Error ? error.message : String(error));
  }
}

/** Prints the usage. With a mistake the exit code is 2. */
function endWithUsage(mistake?: string): never {
  process.stderr.write(mistake === undefined ? USAGE : `${mistake}\n${USAGE}`);
  process.exit(mistake === undefined ? 0 : 2);
}
