// `mercat doctor`: checks the environment that the service needs, and says how to correct each problem. It changes nothing.

import type { CommandIo, DefineCommand } from '../command.ts';
import type { Style } from '../output.ts';
import { emphasize, printable } from '../output.ts';
import type { DoctorFinding } from './findings.ts';

const SYMPTOMS = 'Other symptoms: docs/when-something-is-wrong.md.';

export const defineDoctor: DefineCommand = (doctor, io) => {
  doctor
    .description(
      'Check the settings, the data directory and its disk, the databases with their schemas and clocks, Redis, the marketplaces, ' +
        "feeds and price sources that the settings name, the endpoints of chains, and this machine's clock.",
    )
    .option(
      '--json',
      'print a list of {"name", "level": "ok" | "warn" | "fail", "message", "mend"} as one JSON value; "mend" says how to correct the problem',
    )
    .addHelpText('after', `\nExit code 1: a check failed. ${SYMPTOMS}`)
    .action((options) => runChecks(options, io));
};

async function runChecks({ json }: { json?: true }, io: CommandIo): Promise<void> {
  const { checkAll } = await import('./checks.ts');
  const findings = await checkAll(io.signal);
  const lines = findings.map((finding) => describeFinding(finding, io.stdout));
  io.stdout.write(json ? `${JSON.stringify(findings)}\n` : `${lines.join('')}${SYMPTOMS}\n`);
  if (findings.some(({ level }) => level === 'fail')) io.exitCode = 1;
}

const LEVELS: Readonly<Record<DoctorFinding['level'], { label: string; style: Style }>> = {
  ok: { label: 'ok  ', style: 'green' },
  warn: { label: 'warn', style: 'yellow' },
  fail: { label: 'FAIL', style: 'red' },
};

function describeFinding({ name, level, message, mend }: DoctorFinding, stdout: CommandIo['stdout']): string {
  const { label, style } = LEVELS[level];
  const line = `${emphasize(style, label, stdout)}  ${printable(`${name}: ${message}`)}\n`;
  return mend === null ? line : `${line}      -> ${mend}\n`;
}
