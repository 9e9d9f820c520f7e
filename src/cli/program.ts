// The command line: finds the command, loads only its module, and turns errors into a message and an exit code.

import type { CommanderError, CommandUnknownOpts } from '@commander-js/extra-typings';
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { styleText } from 'node:util';
import { OperatorError } from '../platform/core/errors.ts';
import { readVersion } from '../platform/version.ts';
import type { CommandIo, ExitCode } from './command.ts';
import type { CommandEntry } from './commands.ts';
import { COMMANDS } from './commands.ts';
import { emphasize } from './output.ts';

const HELP_WIDTH_MAX = 110;

/** Runs the command that `args` name, and returns its exit code. */
export async function runProgram(
  args: readonly string[],
  io: CommandIo,
  commands: readonly CommandEntry[] = COMMANDS,
): Promise<ExitCode> {
  const program = createProgram(io);
  const declared = new Map(commands.map(({ name, summary }) => [name, program.command(name).summary(summary)]));
  const name = args[0] === 'help' ? args[1] : args[0];
  // Commander would print the help of the program for `help` and a name that it does not know.
  const isUnknownHelp = args[0] === 'help' && name !== undefined && !/^(-|help$)/.test(name) && !declared.has(name);
  const parsed = isUnknownHelp ? [name] : args;
  const entry = commands.find((one) => one.name === name);
  const command = declared.get(name ?? '');
  if (entry && command) (await entry.load())(command, io);
  prepare(program);
  try {
    await program.parseAsync(command ? actionFirst(command, parsed) : parsed, { from: 'user' });
    return io.exitCode;
  } catch (error) {
    if (error instanceof UsageError) {
      if (error.message !== '') io.stderr.write(`mercat: ${error.message}\n`);
      return error.exitCode;
    }
    const known = error instanceof OperatorError ? error : await toDatabaseFailure(error);
    if (known === null) throw error;
    io.stderr.write(`mercat: ${known.message}\n`);
    return known.exitCode;
  }
}

/** The failure of a database is no bug, so it is reported in one sentence. Null for any other error. */
async function toDatabaseFailure(error: unknown): Promise<OperatorError | null> {
  const { describeDatabaseFailure } = await import('../platform/database/port.ts');
  const failure = describeDatabaseFailure(error);
  return failure === null ? null : new OperatorError(failure, { cause: error });
}

function createProgram(io: CommandIo): Command {
  return new Command('mercat')
    .version(readVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .description('NFT market data from an index of your own, and a store.')
    .addHelpText('after', '\nSettings are environment variables: docs/settings.md.')
    .configureHelp({ styleTitle: toHeading, showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // `runProgram` writes errors itself, each on one line.
      outputError: () => undefined,
      getOutHelpWidth: () => helpWidth(io.stdout),
      getErrHelpWidth: () => helpWidth(io.stderr),
      getOutHasColors: () => hasColors(io.stdout),
      getErrHasColors: () => hasColors(io.stderr),
    });
}

/** Commander removes the style if the stream has no colours. */
function toHeading(title: string): string {
  return styleText('bold', title, { validateStream: false });
}

function hasColors(stream: CommandIo['stdout']): boolean {
  return emphasize('bold', 'x', stream) !== 'x';
}

function helpWidth(stream: CommandIo['stdout'] & { columns?: number }): number {
  return Math.min(stream.columns ?? HELP_WIDTH_MAX, HELP_WIDTH_MAX);
}

/** An error in the arguments. Also thrown, with an empty message, after a command printed its help or the version. */
class UsageError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Makes the command and its subcommands throw a UsageError where Commander would end the process. Also makes them reject an option that stands
 * where the value of another option is expected.
 */
function prepare(command: CommandUnknownOpts): void {
  command.exitOverride((error) => {
    throw toUsageError(error, pathOf(command));
  });
  for (const option of command.options) {
    if (!option.required) continue;
    const { parseArg } = option;
    option.parseArg = <T>(value: string, previous: T): T => {
      // Otherwise `--name --json` would set the option --name to the text "--json".
      if (value.startsWith('--')) throw new InvalidArgumentError('A value is missing.');
      return parseArg ? parseArg(value, previous) : (value as T);
    };
  }
  for (const subcommand of command.commands) prepare(subcommand);
}

function pathOf(command: CommandUnknownOpts): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function toUsageError({ code, exitCode, message }: CommanderError, path: string): UsageError {
  if (exitCode === 0) return new UsageError('', 0);
  // If no command was named, the help has been printed already.
  if (code === 'commander.help') return new UsageError('', 2);
  const line = message
    .replace(/^error: /, '')
    .replace(/\n\((.*)\)$/, ' ($1)')
    .replace(/\.$/, '');
  return new UsageError(`${line}; see ${path} --help`, 2);
}

/** Moves the subcommand of a command before its options, so that `mercat keys --json list` is accepted. */
function actionFirst(command: CommandUnknownOpts, [name = '', ...args]: readonly string[]): string[] {
  const actions = new Set(command.commands.map((one) => one.name()));
  const index = args.findIndex((arg) => actions.has(arg));
  return index > 0 ? [name, ...args.slice(index, index + 1), ...args.toSpliced(index, 1)] : [name, ...args];
}
