// The program: a command and its arguments in, an exit code out. The first SIGINT or SIGTERM asks the command to end in
// good order, the second ends the process.

import { auditCommand } from './cli/audit.ts';
import { backupCommand } from './cli/backup.ts';
import { collectionsCommand } from './cli/collections.ts';
import type { Command, CommandIo, ExitCode } from './cli/command.ts';
import { devnetCommand } from './cli/devnet.ts';
import { doctorCommand } from './cli/doctor/doctor.ts';
import { importCommand } from './cli/import/import.ts';
import { keysCommand } from './cli/keys.ts';
import { migrateCommand } from './cli/migrate.ts';
import { restoreCommand } from './cli/restore.ts';
import { serveCommand } from './cli/serve.ts';
import { shopsCommand } from './cli/shops.ts';
import { statusCommand } from './cli/status.ts';
import { syncCommand } from './cli/sync.ts';
import { webhooksCommand } from './cli/webhooks.ts';
import { workCommand } from './cli/work.ts';
import { OperatorError } from './core/errors.ts';
import { readVersion } from './version.ts';

const COMMANDS: readonly Command[] = [
  serveCommand,
  workCommand,
  importCommand,
  shopsCommand,
  keysCommand,
  webhooksCommand,
  collectionsCommand,
  syncCommand,
  statusCommand,
  doctorCommand,
  devnetCommand,
  auditCommand,
  migrateCommand,
  backupCommand,
  restoreCommand,
];
const EXIT_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;

const HELP = `Usage: mercat COMMAND [ARGUMENT…]

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(12)}${summary}`).join('\n')}

mercat COMMAND --help tells more. Settings are environment variables: docs/settings.md.
`;

const stopping = new AbortController();
for (const [signal, exitCode] of Object.entries(EXIT_BY_SIGNAL)) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(exitCode);
    stopping.abort();
  });
}

process.exitCode = await run(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stopping.signal,
});

async function run([name, ...args]: string[], io: CommandIo): Promise<ExitCode> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    (name === undefined ? io.stderr : io.stdout).write(HELP);
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    io.stdout.write(`${readVersion()}\n`);
    return 0;
  }
  const command = COMMANDS.find((one) => one.name === name);
  if (!command) {
    io.stderr.write(`mercat: unknown command ${JSON.stringify(name)}; see mercat --help\n`);
    return 2;
  }
  if (args.includes('--help') || args.includes('-h')) {
    io.stdout.write(command.help);
    return 0;
  }
  try {
    return await command.run(args, io);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    io.stderr.write(`mercat: ${error.message}\n`);
    return error.exitCode;
  }
}
