// `npm run soak`: sends mixed requests for a while, and samples the resources that the processes hold. The exit code is 1 if a resource
// grows, or if a request got an unexpected response.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { canStartPostgres } from '../../test/support/engines/postgres-server.ts';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import type { FaultEngine, Platform } from '../platform.ts';
import { startPlatform } from '../platform.ts';
import type { Program } from '../program.ts';
import { fillCaches } from './fill-caches.ts';
import type { Holding } from './measured-process.ts';
import { REPORTING, measure } from './measured-process.ts';
import type { Sample, Tolerance } from './trend.ts';
import { findTrend } from './trend.ts';
import { Visitors } from './visitors.ts';

const USAGE = `npm run soak -- [--minutes NUMBER] [--engine embedded|postgresql]
`;

const SAMPLES_A_MINUTE = 4;
const MS_PER_MINUTE = 60_000;
/** The trend is judged over the last 15 minutes of the run. If the run is shorter than 20 minutes, it is judged over the last three quarters. */
const WINDOW_MINUTES = 15;
const WINDOW_SHARE = 0.75;

/** How far the line that is fitted to a quantity may rise over the window, so that the quantity still counts as level. */
const TOLERANCES: Readonly<Record<keyof Holding, Tolerance>> = {
  heap: { share: 0.03, amount: 2 },
  resident: { share: 0.05, amount: 8 },
  descriptors: { share: 0.05, amount: 2 },
  connections: { share: 0.05, amount: 2 },
};

const QUANTITIES = ['heap', 'resident', 'descriptors', 'connections'] as const;

const TITLES: Readonly<Record<keyof Holding, string>> = {
  heap: 'heap after garbage collection (MiB)',
  resident: 'resident (MiB)',
  descriptors: 'descriptors',
  connections: 'connections',
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    engine: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<number> {
  const minutes = Number(values.minutes);
  const engines = (['embedded', 'postgresql'] as const).filter((one) => (values.engine ?? one) === one);
  if (values.help || !(minutes > 0) || engines.length === 0) {
    process.stderr.write(USAGE);
    return values.help ? 0 : 2;
  }
  let isLevel = true;
  for (const engine of engines) {
    if (engine === 'postgresql' && !canStartPostgres()) say('PostgreSQL is not on this machine: skipped');
    else isLevel = (await soak(engine, minutes)) && isLevel;
  }
  await cleanUp();
  return isLevel ? 0 : 1;
}

/** Runs the load on a new platform, and prints the samples and the trends. Returns true if all trends are level and no response was unexpected. */
async function soak(engine: FaultEngine, minutes: number): Promise<boolean> {
  const undo: (() => Promise<unknown> | void)[] = [];
  try {
    const platform = await startPlatform(engine, { settings: REPORTING }, (one) => void undo.push(one));
    const visitors = new Visitors(platform.url, platform.client);
    await fillCaches(platform.newClient());
    visitors.start();
    say(`\n${engine}, ${minutes} minutes\n`);
    const names = platform.worker === null ? ['service'] : ['service', 'worker'];
    const samples = await sampleAll(platform, names, minutes);
    await visitors.stop();
    await platform.load.stop();
    const tally = platform.client.takeTally();
    say(`\nresponses: ${tally.describe()}; ${visitors.requests} requests of visitors`);
    for (const { sent, answer } of tally.unexpected.filter(isUnexpected))
      say(`unexpected: ${sent.method} ${sent.path} ${answer.status} ${answer.text.slice(0, 200)}`);
    return printTrends(samples, minutes) && !tally.unexpected.some(isUnexpected);
  } finally {
    for (const one of undo.toReversed()) await one();
  }
}

/** A 404 is expected, because visitors also read what does not exist. */
const isUnexpected = ({ answer }: { answer: { status: unknown } }): boolean => answer.status !== 404;

type Series = Map<string, Sample[]>;

/** Samples each process until the end, and prints a line for each process every minute. A series is named by its process and quantity. */
async function sampleAll(platform: Platform, names: readonly string[], minutes: number): Promise<Series> {
  const series: Series = new Map();
  const startedAt = performance.now();
  const programs = names.map((name, index) => ({ name, program: platform.programs[index] as Program }));
  say(`| minute | acknowledged | process | ${QUANTITIES.map((one) => TITLES[one]).join(' | ')} |`);
  say(`|---|---|---|${QUANTITIES.map(() => '---|').join('')}`);
  for (let index = 0; index <= minutes * SAMPLES_A_MINUTE; index += 1) {
    await sleep(Math.max(0, startedAt + (index * MS_PER_MINUTE) / SAMPLES_A_MINUTE - performance.now()));
    for (const { name, program } of programs) {
      const holding = await measure(program);
      const minute = (performance.now() - startedAt) / MS_PER_MINUTE;
      for (const quantity of QUANTITIES) {
        const key = `${name}, ${TITLES[quantity]}`;
        series.set(key, [...(series.get(key) ?? []), { minute, value: holding[quantity] }]);
      }
      if (index % SAMPLES_A_MINUTE > 0) continue;
      const cells = QUANTITIES.map((quantity) => holding[quantity].toFixed(0));
      say(`| ${[minute.toFixed(0), platform.load.acknowledged, name, ...cells].join(' | ')} |`);
    }
  }
  return series;
}

/** Prints the trend of each quantity over the window, and returns whether all are level. */
function printTrends(series: Series, minutes: number): boolean {
  const window = Math.min(WINDOW_MINUTES, minutes * WINDOW_SHARE);
  say(`\nover the last ${window} minutes:\n`);
  say('| process | quantity | mean | growth a minute | level if it grows by at most | verdict |');
  say('|---|---|---|---|---|---|');
  let areLevel = true;
  for (const [key, samples] of series) {
    const [name = '', title = ''] = key.split(', ');
    const quantity = QUANTITIES.find((one) => TITLES[one] === title) ?? 'heap';
    const tolerance = TOLERANCES[quantity];
    const { mean, slopePerMinute, isLevel } = findTrend(samples, window, tolerance);
    const limit = Math.max(tolerance.amount, tolerance.share * mean);
    const slope = `${slopePerMinute < 0 ? '' : '+'}${slopePerMinute.toFixed(3)}`;
    say(`| ${[name, title, mean.toFixed(1), slope, limit.toFixed(1), isLevel ? 'level' : 'GROWS'].join(' | ')} |`);
    areLevel &&= isLevel;
  }
  return areLevel;
}

process.exit(await main());
