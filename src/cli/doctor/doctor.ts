// `mercat doctor`: looks at everything that has to be right for the service to work, and says what to mend. It changes nothing.

import { parseArgs } from 'node:util';
import type { Command } from '../command.ts';
import { parseUsage } from '../command.ts';
import { examine } from './checks.ts';
import type { DoctorFinding } from './findings.ts';

const HELP = `Usage: mercat doctor [--json]

Checks the settings, the data directory and its disk, the databases with their schemas and clocks, Redis, the marketplaces, feeds
and price sources that the settings name, the endpoints of chains, and this machine's clock. Exit 1 when something has to be mended.

  --json   print a list of {"name", "level": "ok" | "warn" | "fail", "message", "mend"} as one JSON value
`;

const SIGNS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'check everything and say what to mend',
  help: HELP,
  run: async (args, { stdout, signal }) => {
    const { values } = parseUsage(doctorCommand, () => parseArgs({ args, options: { json: { type: 'boolean' } } }));
    const findings = await examine(signal);
    stdout.write(values.json ? `${JSON.stringify(findings)}\n` : findings.map(toWords).join(''));
    return findings.some(({ level }) => level === 'fail') ? 1 : 0;
  },
};

function toWords({ name, level, message, mend }: DoctorFinding): string {
  return `${SIGNS[level]}  ${name}: ${message}\n${mend === null ? '' : `      -> ${mend}\n`}`;
}
