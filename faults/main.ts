// `npm run test:faults`: breaks real processes on purpose, and prints what was promised and what was seen. The exit code is 1 if a promise
// was not kept. Each file of cases/ is one fault.

import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { cleanUp } from '../test/support/engines/cleanup.ts';
import type { Fault } from './fault.ts';
import type { FaultEngine } from './platform.ts';
import type { Result } from './run.ts';
import { RECOVERY_LIMIT_MS } from './platform.ts';
import { runFault } from './run.ts';

const USAGE = `npm run test:faults -- [--list] [--engine embedded|postgresql] [--recovery-seconds 60] [NAME]...
`;

const CASES = new URL('./cases/', import.meta.url);

const EXIT_INTERRUPTED = 130;
const interruption = new AbortController();

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    engine: { type: 'string' },
    'recovery-seconds': { type: 'string', default: String(RECOVERY_LIMIT_MS / 1_000) },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<number> {
  const faults = await loadFaults();
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name));
  if (values.help || unknown.length > 0) {
    process.stderr.write(unknown.length > 0 ? `unknown fault: ${unknown.join(', ')}; --list shows all\n` : USAGE);
    return values.help ? 0 : 2;
  }
  if (values.list) {
    for (const { name, engines, promise } of faults) say(`${name} (${engines.join(', ')}): ${promise}`);
    return 0;
  }
  const results: Result[] = [];
  // Ctrl-C ends the current fault, and then the table is printed. A second Ctrl-C ends the process immediately.
  process.once('SIGINT', () => interruption.abort());
  // After a fault has failed, one of its requests may still throw an error. This error must not prevent the next faults from running.
  process.on('unhandledRejection', (error) => process.stderr.write(`  after a fault: ${String(error)}\n`));
  await runAll(
    faults.filter(({ name }) => names.length === 0 || names.includes(name)),
    results,
  );
  await cleanUp();
  printTable(results);
  if (interruption.signal.aborted) return EXIT_INTERRUPTED;
  return results.some(({ verdict }) => verdict === 'broken') ? 1 : 0;
}

async function loadFaults(): Promise<Fault[]> {
  const files = readdirSync(CASES).filter((name) => name.endsWith('.ts'));
  const modules = files.toSorted().map(async (name) => (await import(new URL(name, CASES).href)) as { fault: Fault });
  return (await Promise.all(modules)).map(({ fault }) => fault);
}

async function runAll(faults: readonly Fault[], results: Result[]): Promise<void> {
  const limitMs = Number(values['recovery-seconds']) * 1_000;
  for (const fault of faults) {
    for (const engine of fault.engines.filter(isWanted)) {
      if (interruption.signal.aborted) return;
      process.stderr.write(`${fault.name} on ${engine} … `);
      const result = await runFault(fault, engine, { limitMs, signal: interruption.signal });
      process.stderr.write(`${result.verdict} (${Math.round(result.ms / 1_000)} s)\n`);
      for (const one of result.broken) process.stderr.write(`  ${one}\n`);
      results.push(result);
    }
  }
}

const isWanted = (engine: FaultEngine): boolean => values.engine === undefined || values.engine === engine;

/** Prints a Markdown table. */
function printTable(results: readonly Result[]): void {
  say('| fault | engine | promised | seen | verdict |');
  say('|---|---|---|---|---|');
  for (const { fault, engine, facts, broken, verdict } of results) {
    const seen = [...broken.map((one) => `BROKEN: ${one}`), ...facts].join('; ');
    say(`| ${[fault.name, engine, fault.promise, seen, verdict].map(toCell).join(' | ')} |`);
  }
  const count = (verdict: Result['verdict']) => results.filter((result) => result.verdict === verdict).length;
  const minutes = (results.reduce((sum, { ms }) => sum + ms, 0) / 60_000).toFixed(1);
  say(`\n${count('kept')} kept, ${count('broken')} broken, ${count('skipped')} skipped, in ${minutes} min`);
}

const toCell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', String.raw`\|`);

process.exit(await main());
