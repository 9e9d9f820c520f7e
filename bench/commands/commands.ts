// Measures the CPU time of `mercat --version`, and of `mercat status` beside a running server. Both are compared with `node -e 0`.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readServiceUrl, stopProgram } from '../support/child-program.ts';
import { median, say, spread } from '../support/measure.ts';
import { judge } from '../support/verdict.ts';

const ROUNDS = 10;
/** The aims: CPU seconds above those of `node -e 0`. */
const VERSION_AIM_S = 0.15;
const STATUS_AIM_S = 0.3;

const PROGRAM = fileURLToPath(new URL('../../bin/mercat.mjs', import.meta.url));

export async function benchCommands(): Promise<void> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
  const env = { ...process.env, PRICE_SOURCES: 'none', DATA_DIR: dir, PORT: '0' };
  const server = spawn(process.execPath, [PROGRAM, 'serve', '--no-sample', '--no-workers'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await readServiceUrl(server);
    const nothing: number[] = [];
    const version: number[] = [];
    const status: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      nothing.push(cpuSeconds(['-e', '0'], env));
      version.push(cpuSeconds([PROGRAM, '--version'], env));
      status.push(cpuSeconds([PROGRAM, 'status'], env));
    }
    say(`node -e 0: ${median(nothing).toFixed(3)} s of CPU (${spread(nothing)})`);
    report('mercat --version', { used: version, nothing, aim: VERSION_AIM_S });
    report('mercat status beside a running server', { used: status, nothing, aim: STATUS_AIM_S });
  } finally {
    await stopProgram(server);
    rmSync(dir, { recursive: true, force: true });
  }
}

function report(name: string, { used, nothing, aim }: { used: number[]; nothing: number[]; aim: number }): void {
  judge({
    name: `${name}, CPU time above that of node -e 0`,
    figure: median(used) - median(nothing),
    unit: 's',
    rounds: used.map((seconds) => seconds - median(nothing)),
    aim: { atMost: aim },
    beside: `${median(used).toFixed(3)} s in all`,
  });
}

/** The user and system time of one Node process with these arguments. The `times` command of the shell measures it. */
function cpuSeconds(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const script = '"$0" "$@" >/dev/null && times';
  const [, children = ''] = execFileSync('sh', ['-c', script, process.execPath, ...args], {
    env,
    encoding: 'utf8',
  }).split('\n');
  const times = Array.from(
    children.matchAll(/(\d+)m([\d.]+)s/g),
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  if (times.length !== 2) throw new Error(`no times in ${JSON.stringify(children)}`);
  return times.reduce((sum, time) => sum + time, 0);
}
