// Compares the figures of a run with their aims. Each figure is printed when it is measured, and again in a table at the end. The exit code of
// a run follows from the comparisons.

import { say } from './measure.ts';

/** What a figure must be. Null: the figure is only shown. */
export type Aim = { atLeast: number } | { atMost: number } | null;

export type Figure = {
  /** What is measured and on what. Unique within a run. */
  name: string;
  figure: number;
  /** The unit of the figure, the aim and the rounds. Empty for a ratio. */
  unit: string;
  /** The figure of each round. Empty if it was measured once. */
  rounds: readonly number[];
  aim: Aim;
  /** Responses that failed or were degraded during the measurement. One of them is enough to miss the aim. */
  failures?: number;
  /** What a reader needs to understand the figure, for example both sides of a ratio. */
  beside?: string;
};

type Verdict = 'reached' | 'missed' | 'not measured' | 'no aim';

type Row = { name: string; figure: string; spread: string; aim: string; verdict: Verdict };

const rows: Row[] = [];

/** Records and prints a figure. A figure or a round that is not a finite number misses the aim. */
export function judge({ name, figure, unit, rounds, aim, failures = 0, beside }: Figure): void {
  const withUnit = (text: string) => (unit === '' ? text : `${text} ${unit}`);
  const isMeasured = [figure, ...rounds].every(Number.isFinite);
  const reached = aim !== null && isMeasured && failures === 0 && isReached(figure, aim);
  const verdict = aim === null ? 'no aim' : reached ? 'reached' : 'missed';
  const row: Row = {
    name,
    figure: withUnit(round(figure)) + (failures > 0 ? `, ${failures} failed` : ''),
    spread: rounds.length > 0 ? `${round(Math.min(...rounds))} to ${round(Math.max(...rounds))}` : 'one measurement',
    aim: aim === null ? '' : withUnit('atLeast' in aim ? `at least ${aim.atLeast}` : `at most ${aim.atMost}`),
    verdict,
  };
  rows.push(row);
  const judged = aim === null ? 'no aim' : `aim ${row.aim}: ${verdict}`;
  say(`${name}: ${row.figure} (${row.spread}); ${judged}${beside === undefined ? '' : `; ${beside}`}`);
}

/** Records that a figure with an aim could not be measured on this machine. The exit code of the run is then 1. */
export function recordUnmeasured(name: string, reason: string): void {
  rows.push({ name, figure: reason, spread: '', aim: '', verdict: 'not measured' });
  say(`${name}: not measured, ${reason}`);
}

export type Benchmarks = Readonly<Record<string, () => Promise<void>>>;

/**
 * Runs the benchmarks with the given names, or all. Prints a table of all figures at the end. Resolves with the exit code: 0 if each aim is
 * reached, 1 if one is missed or was not measured or a benchmark failed, 2 if a name is unknown. A benchmark that fails does not stop the run.
 */
export async function runBenchmarks(benchmarks: Benchmarks, wanted: readonly string[]): Promise<0 | 1 | 2> {
  const unknown = wanted.filter((name) => !Object.hasOwn(benchmarks, name));
  if (unknown.length > 0) {
    process.stderr.write(
      `unknown benchmark ${unknown.join(', ')}; the benchmarks are ${Object.keys(benchmarks).join(', ')}\n`,
    );
    return 2;
  }
  rows.length = 0;
  for (const [name, run] of Object.entries(benchmarks)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    try {
      await run();
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      recordUnmeasured(`benchmark ${name}`, 'it failed');
    }
  }
  say(toTable(rows));
  return rows.every(({ verdict }) => verdict === 'reached' || verdict === 'no aim') ? 0 : 1;
}

function isReached(figure: number, aim: NonNullable<Aim>): boolean {
  return 'atLeast' in aim ? figure >= aim.atLeast : figure <= aim.atMost;
}

/** Rounds for display: more digits would be more exact than a measurement is. */
function round(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}

/** A Markdown table, and a line with the number of each verdict. */
function toTable(judged: readonly Row[]): string {
  const cells = judged.map(({ name, figure, spread, aim, verdict }) => [name, figure, spread, aim, verdict]);
  const lines = [['Figure', 'Measured', 'Rounds', 'Aim', 'Verdict'], ['---', '---', '---', '---', '---'], ...cells];
  const counts = Map.groupBy(judged, ({ verdict }) => verdict)
    .entries()
    .map(([verdict, those]) => `${those.length} ${verdict}`);
  return `\n${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n\n${[...counts].join(', ')}`;
}
