// `npm run oracle`: performs a run and prints its result. With `--steps`, the run compares a service with the model of the market (model/). With
// `--history`, it records what the clients of a shop see, and judges it (history/). Without them, two services follow one chain, and their listings are
// compared with the chain. The exit code is 1 if there is a difference.

import { HISTORY_USAGE, runHistoryCommand } from './history/command.ts';
import { MODEL_USAGE, runModelCommand } from './model/command.ts';
import type { OracleArguments } from './run/arguments.ts';
import { parseOracleArguments, USAGE } from './run/arguments.ts';
import { describeResult } from './run/report.ts';
import { runOracle } from './run/run.ts';
import { createTwoServices } from './run/two-services.ts';

if (process.argv.includes('--history')) process.exit(await runHistoryCommand(process.argv.slice(2)));
if (process.argv.includes('--steps')) process.exit(await runModelCommand(process.argv.slice(2)));

const given = readArguments();
const services = createTwoServices({ seed: given.seed, faultShare: given.faults / 1_000 });
const startedAt = performance.now();
try {
  const result = await runOracle({
    seed: given.seed,
    blocks: given.blocks,
    orders: given.orders,
    bids: given.bids,
    mirrorShare: given.mirrored / 100,
    kills: given.kills,
    reorganisations: given.reorganisations,
    reorgDepthMax: given['reorg-depth'],
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

function readArguments(): OracleArguments {
  if (process.argv.includes('--help')) endWithUsage();
  try {
    return parseOracleArguments(process.argv.slice(2));
  } catch (error) {
    return endWithUsage(error instanceof Error ? error.message : String(error));
  }
}

/** Prints the usage and ends the process. The exit code is 2 if the arguments contain a mistake, otherwise 0. */
function endWithUsage(mistake?: string): never {
  process.stderr.write(`${mistake === undefined ? '' : `${mistake}\n`}${USAGE}${MODEL_USAGE}${HISTORY_USAGE}`);
  process.exit(mistake === undefined ? 0 : 2);
}
