// Plants faults in a copy of the service, one at a time, and runs the model on each: `npm run mutate:oracle -- --count 25 --seed 1`. A fault changes one
// line of `src`: an operator, a limit, a condition of a statement, or a call. The lines that a hash puts first are changed. Prints after how many steps each
// fault was found.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
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
    steps: { type: 'string', default: '90' },
    only: { type: 'string' },
    engine: { type: 'string', default: 'embedded' },
    list: { type: 'boolean', default: false },
  },
});
const chosen = listFaults(values.seed).slice(0, Number(values.count));
if (values.list)
  for (const [index, fault] of chosen.entries()) process.stdout.write(`${index + 1} ${describe(fault)}\n`);
else plantAll(chosen);

function plantAll(faults: readonly Fault[]): void {
  const copy = mkdtempSync(path.join(tmpdir(), 'planted-'));
  try {
    for (const part of COPIED) cpSync(path.join(ROOT, part), path.join(copy, part), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
    let found = 0;
    for (const [index, fault] of faults.entries()) {
      if (values.only !== undefined && !values.only.split(',').includes(String(index + 1))) continue;
      const file = path.join(copy, fault.file);
      const original = readFileSync(file, 'utf8');
      writeFileSync(file, original.split('\n').with(fault.line, fault.to).join('\n'));
      const result = run(copy);
      writeFileSync(file, original);
      if (result.isFound) found += 1;
      process.stdout.write(`${index + 1} ${describe(fault)}\n  ${result.text}\n`);
    }
    process.stdout.write(`${found} found\n`);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function run(copy: string): { isFound: boolean; text: string } {
  const args = [
    'oracle/main.ts',
    '--engine',
    values.engine,
    '--steps',
    values.steps,
    '--case-steps',
    '15',
    '--seed',
    '4',
    '--shrink',
    '0',
  ];
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
    cwd: copy,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  if (error) return { isFound: false, text: `not found in ${TIMEOUT_MS / 1_000} s` };
  const [, steps] = /^\w+: (\d+) steps/m.exec(stdout) ?? [];
  if (steps === undefined) return { isFound: true, text: `the run ends: ${stderr.slice(-300).replaceAll('\n', ' ')}` };
  const [, difference = ''] = stdout.split('a difference\n');
  return status === 0
    ? { isFound: false, text: `not found in ${steps} steps` }
    : { isFound: true, text: `found after ${steps} steps: ${difference.slice(0, 300).replaceAll('\n', ' ')}` };
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
