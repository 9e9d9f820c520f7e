// Tests the command line: help, suggestions for misspelt names, exit codes, emphasis and tables.

import assert from 'node:assert/strict';
import { WriteStream } from 'node:tty';
import { describe, test } from 'node:test';
import { Writable } from 'node:stream';
import type { CommandIo } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { formatTable, printable } from '../../src/cli/output.ts';
import { runProgram } from '../../src/cli/program.ts';
import { OperatorError } from '../../src/platform/core/errors.ts';
import { collectOutput, runCommand } from './run-command.ts';

const mercat = (...args: string[]) => collectOutput((io) => runProgram(args, io));

describe('help', () => {
  test('help lists every command with its summary on standard output', async () => {
    for (const args of [['--help'], ['-h'], ['help']]) {
      const { code, stdout, stderr } = await mercat(...args);
      assert.deepEqual([code, stderr], [0, '']);
      for (const { name, summary } of COMMANDS) assert.match(stdout, new RegExp(`^ {2}${name} +${summary}$`, 'm'));
    }
  });

  for (const { name } of COMMANDS) {
    test(`the help of ${name} and of each of its actions has a usage line, a description and options`, async () => {
      const { code, stdout, stderr } = await mercat(name, '--help');
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^Usage: mercat ${name} .*\n\n[A-Z][^]*\\.\n`));
      assert.match(stdout, /^Options:\n/m);
      assert.equal((await mercat('help', name)).stdout, stdout);
      const [, actions = ''] = /\nCommands:\n([^]*)/.exec(stdout) ?? [];
      for (const [, action = ''] of actions.matchAll(/^ {2}([a-z]+) /gm)) {
        if (action === 'help') continue;
        const help = await mercat(name, action, '--help');
        assert.equal(help.code, 0);
        assert.match(help.stdout, new RegExp(`^Usage: mercat ${name} ${action} .*\n\n[A-Z][^]*\nOptions:\n`));
      }
    });
  }

  test('help goes to standard error with exit code 2 when the command is missing', async () => {
    for (const args of [[], ['keys']]) {
      const { code, stdout, stderr } = await mercat(...args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^Usage: mercat /);
    }
  });
});

describe('wrong usage gives exit code 2 and one line on standard error', () => {
  const cases: [string[], string][] = [
    [['stauts'], "unknown command 'stauts' (Did you mean status?); see mercat --help"],
    [['--verison'], "unknown option '--verison' (Did you mean --version?); see mercat --help"],
    [['keys', 'lst'], "unknown command 'lst' (Did you mean list?); see mercat keys --help"],
    [['keys', 'list', '--shp', 'x'], "unknown option '--shp' (Did you mean --shop?); see mercat keys list --help"],
    [['serve', '--prot=1'], "unknown option '--prot=1' (Did you mean --port?); see mercat serve --help"],
    [['help', 'stauts'], "unknown command 'stauts' (Did you mean status?); see mercat --help"],
    [['help', 'foo'], "unknown command 'foo'; see mercat --help"],
    [['nothing-like-it'], "unknown command 'nothing-like-it'; see mercat --help"],
    [['constructor'], "unknown command 'constructor'; see mercat --help"],
    [['status', 'x'], "too many arguments for 'status'. Expected 0 arguments but got 1; see mercat status --help"],
    [['shops', 'create'], "missing required argument 'name'; see mercat shops create --help"],
    [
      ['keys', 'list', '--shop', '--json'],
      "option '--shop <name>' argument '--json' is invalid. A value is missing; see mercat keys list --help",
    ],
  ];
  for (const [args, message] of cases) {
    test(`the command \`mercat ${args.join(' ')}\` ends with exit code 2 and one line on standard error`, async () => {
      assert.deepEqual(await mercat(...args), { code: 2, stdout: '', stderr: `mercat: ${message}\n` });
    });
  }
});

describe('a command', () => {
  test('a command ends with the exit code that it sets, or with that of its error', async () => {
    const outcomes: [(io: CommandIo) => void, number, string][] = [
      [() => undefined, 0, ''],
      [(io) => void (io.exitCode = 1), 1, ''],
      [() => assert.fail(new OperatorError('the disk is full')), 1, 'mercat: the disk is full\n'],
      [() => assert.fail(new OperatorError('--x is wrong', { exitCode: 2 })), 2, 'mercat: --x is wrong\n'],
    ];
    for (const [act, code, stderr] of outcomes) {
      const result = await runCommand((command, io) => void command.action(() => act(io)), ['try']);
      assert.deepEqual(result, { code, stdout: '', stderr });
    }
  });

  test('the program rejects with the error of a command if the error is not an OperatorError', async () => {
    const running = runCommand((command) => void command.action(() => assert.fail('a bug')), ['try']);
    await assert.rejects(running, /a bug/);
  });

  test('a command accepts its action after options', async () => {
    const received: unknown[] = [];
    const run = (...args: string[]) =>
      runCommand(
        (command) => {
          command
            .command('list')
            .option('--json')
            .option('--shop <name>')
            .action((options) => void received.push(options));
        },
        ['try', ...args],
      );
    for (const args of [
      ['list', '--json', '--shop', 'a'],
      ['--json', 'list', '--shop', 'a'],
      ['--json', '--shop', 'a', 'list'],
    ])
      assert.equal((await run(...args)).code, 0);
    const expected = { json: true, shop: 'a' };
    assert.deepEqual(received, [expected, expected, expected]);
  });
});

describe('emphasis', () => {
  const ESCAPE = '\u001b[';
  /** The properties of a stream that is a terminal, with these environment variables. */
  const terminal = (env: Record<string, string>) => ({
    isTTY: true,
    columns: 80,
    getColorDepth: () => WriteStream.prototype.getColorDepth(env),
  });
  const help = async (env: Record<string, string> | null) => {
    const options = env === null ? {} : { terminal: terminal(env) };
    return (await collectOutput((io) => runProgram(['--help'], io), options)).stdout;
  };

  test('emphasis is used only on a terminal, and only without NO_COLOR', async () => {
    assert.ok((await help({ TERM: 'xterm-256color' })).includes(ESCAPE));
    assert.ok(!(await help({ TERM: 'xterm-256color', NO_COLOR: '1' })).includes(ESCAPE));
    assert.ok(!(await help(null)).includes(ESCAPE));
  });
});

describe('a table', () => {
  const stdout = new Writable();

  test('a table has a head line and aligned columns', () => {
    const rows = [
      ['a', 5, null],
      ['bcd', 1_234, 'x'],
    ];
    assert.equal(formatTable(['id', 'rows', 'note'], rows, stdout), 'ID   ROWS  NOTE\na       5  -\nbcd  1234  x\n');
  });

  test('a table escapes the control characters of its cells', () => {
    assert.equal(printable('a\u001b[2J\u009b\n'), 'a\\u001b[2J\\u009b\\u000a');
    assert.ok(!formatTable(['name'], [['\u001b]0;x\u0007']], stdout).includes('\u001b'));
  });
});
