// Plants faults in a copy of the service, one at a time, and runs the model on each: `npm run mutate:oracle -- --count 25 --seed 1`. A fault changes one
// line of `src`: an operator, a limit, a condition of a statement, or a call. The lines that a hash puts first are changed, of those that a run without a fault
// executes. Prints after how many steps each fault was found.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = path.join(import.meta.dirname, '../..');
const COPIED = [
  'src',
  'oracle',
  'client',
  'devnet',
  'sample',
  'openapi',
  'test',
  'docs',
  'package.json',
  'tsconfig.json',
];
const TIMEOUT_MS = 10 * 60_000;

/** What a fault does to a line: the first of these that matches it. */
const WAYS: readonly [RegExp, string][] = [
  [/ === /, ' !== '],
  [/ !== /, ' === '],
  [/ && /, ' || '],
  [/ >= /, ' > '],
  [/ <= /, ' < '],
  [/ < (?=[\w(])/, ' <= '],
  [/ > (?=[\w(])/, ' >= '],
  [/ \+ 1\b/, ''],
  [/ - 1\b/, ''],
  [/\bis not null\b/, 'is null'],
  [/\bcoalesce\((\w[\w.]*), [^)]*\)/, '$1'],
  [/ and (?=\w+\.?\w* [=<>])/, ' or '],
  [/ desc\b/, ' asc'],
  [/\breturn true;/, 'return false;'],
  [/\breturn false;/, 'return true;'],
  [/^(\s+)(?:await )?(?:this\.#?)?\w+(?:\.\w+)*\(.*\);$/, '$1;'],
  [/ \?\? (?!null|undefined)[\w.'[\]]+/, ''],
];

type Fault = { file: string; line: number; from: string; to: string; rank: string };

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '2000' },
    'case-steps': { type: 'string', default: '100' },
    only: { type: 'string' },
    engine: { type: 'string', default: 'embedded' },
    list: { type: 'boolean', default: false },
  },
});
const copy = mkdtempSync(path.join(tmpdir(), 'planted-'));
try {
  for (const part of COPIED) cpSync(path.join(ROOT, part), path.join(copy, part), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  const isExecuted = findExecuted(copy);
  const chosen = listFaults(values.seed).filter(isExecuted).slice(0, Number(values.count));
  const wanted = values.only?.split(',').map(Number);
  let found = 0;
  for (const [index, fault] of chosen.entries()) {
    if (wanted && !wanted.includes(index + 1)) continue;
    process.stdout.write(`${index + 1} ${describe(fault)}\n`);
    if (values.list) continue;
    const { isFound, text } = runPlanted(copy, fault);
    if (isFound) found += 1;
    process.stdout.write(`  ${text}\n`);
  }
  if (!values.list) process.stdout.write(`${found} found\n`);
} finally {
  rmSync(copy, { recursive: true });
}

function runPlanted(copy: string, fault: Fault): { isFound: boolean; text: string } {
  const file = path.join(copy, fault.file);
  const original = readFileSync(file, 'utf8');
  writeFileSync(file, original.split('\n').with(fault.line, fault.to).join('\n'));
  const startedAt = performance.now();
  const { status, stdout, stderr, error } = runModel(copy, values.steps);
  writeFileSync(file, original);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  if (error) return { isFound: false, text: `not found in ${seconds} s` };
  const [, steps] = /^\w+: (\d+) steps/m.exec(stdout) ?? [];
  if (steps === undefined) return { isFound: true, text: `the run ends: ${stderr.slice(-300).replaceAll('\n', ' ')}` };
  const [, difference = ''] = stdout.split('a difference\n');
  return status === 0
    ? { isFound: false, text: `not found in ${steps} steps, ${seconds} s` }
    : {
        isFound: true,
        text: `found after ${steps} steps, ${seconds} s: ${difference.slice(0, 300).replaceAll('\n', ' ')}`,
      };
}

function runModel(copy: string, steps: string, env: NodeJS.ProcessEnv = process.env) {
  const options = ['--engine', values.engine, '--case-steps', values['case-steps'], '--seed', '4', '--shrink', '0'];
  return spawnSync(process.execPath, ['oracle/main.ts', '--steps', steps, ...options], {
    cwd: copy,
    env,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
}

type Range = { startOffset: number; endOffset: number; count: number };
type Coverage = { result: { url: string; functions: { ranges: Range[] }[] }[] };

/** A fault in a line that no step executes changes nothing that can be seen. Lines outside of functions are left out: all of a file that is imported are executed. */
function findExecuted(copy: string): (fault: Fault) => boolean {
  const dir = path.join(copy, 'coverage');
  const { status, stdout } = runModel(copy, values['case-steps'], { ...process.env, NODE_V8_COVERAGE: dir });
  if (status !== 0) throw new Error(`a run without a fault fails: ${stdout.slice(0, 2_000)}`);
  const loads = globSync('*.json', { cwd: dir }).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(path.join(dir, file), 'utf8')) as Coverage;
    return result.map(({ url, functions }) => ({ url, ranges: functions.flatMap(({ ranges }) => ranges) }));
  });
  const byUrl = Map.groupBy(loads, ({ url }) => url);
  return ({ file, line, from }) => {
    const lines = readFileSync(path.join(copy, file), 'utf8').split('\n').slice(0, line);
    const offset = lines.reduce((sum, { length }) => sum + length + 1, from.search(/\S/));
    return (byUrl.get(pathToFileURL(path.join(copy, file)).href) ?? []).some(({ ranges }) => {
      const around = ranges.filter((one) => one.startOffset > 0 && one.startOffset <= offset && offset < one.endOffset);
      const [innermost] = around.toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
      return (innermost?.count ?? 0) > 0;
    });
  };
}

/** All faults, in the order of their hashes. */
function listFaults(seed: string): Fault[] {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).toSorted();
  const faults = files.flatMap((file) =>
    readFileSync(path.join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((from, line): Fault[] => {
        if (/^\s*(?:\/\/|\/?\*|import |export type|type |describe)|description:|=> void/.test(from)) return [];
        const way = WAYS.find(([pattern]) => pattern.test(from));
        const rank = createHash('sha256').update(`${seed} ${file} ${from}`).digest('hex');
        return way ? [{ file, line, from, to: from.replace(...way), rank }] : [];
      }),
  );
  return faults.toSorted((a, b) => (a.rank < b.rank ? -1 : 1));
}

function describe({ file, line, from, to }: Fault): string {
  return `${file}:${line + 1}\n  - ${from.trim()}\n  + ${to.trim()}`;
}
