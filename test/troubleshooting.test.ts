// Tests that docs/when-something-is-wrong.md quotes the program: its commands, messages, settings, metrics, alerts, files and links exist.

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { COMMANDS } from '../src/cli/commands.ts';
import { collectOutput } from './cli/run-command.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readText = (name: string) => readFileSync(path.join(root, name), 'utf8');
const PAGE = 'docs/when-something-is-wrong.md';
const page = readText(PAGE);
/** The source text. Literals that are joined with `+` are one text. */
const source = globSync('src/**/*.ts', { cwd: root })
  .map(readText)
  .join('\n')
  .replaceAll(/['`] \+\s+['`]/g, '');

/** Programs of the operating system. */
const OTHER_PROGRAMS = /^(curl|df|docker|journalctl|kill|ls|mv|ps|psql|ss|sudo|systemctl|systemd-run|ulimit)\b/;
/** Messages and names of PostgreSQL, PgBouncer, Redis, Node.js and HTTP. */
const OTHER_WORDS = [
  'cannot execute … in a read-only transaction',
  'unsupported startup parameter',
  'pg_stat_activity',
  'ignore_startup_parameters',
  'maxmemory-policy noeviction',
  'ALTER ROLE',
  'RECONNECT',
  '/etc/cron.d',
  '--max-old-space-size',
  'NODE_OPTIONS',
  'LimitNOFILE',
  'T',
];

const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| symptom |'));
const fenced = [...page.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, text = '']) => text.trim().split('\n'));
const commandLines = fenced.map((line) => line.replace(/\s+#.*$/, ''));
const inline = [...page.replaceAll(/```[^]*?```/g, '').matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text);
const quoted = [...new Set([...commandLines, ...inline])];

/** Declares the command `name` as the program does. */
async function declare(name: string): Promise<CommandUnknownOpts | null> {
  const entry = COMMANDS.find((one) => one.name === name);
  if (!entry) return null;
  const command = new Command(name);
  const define = await entry.load();
  await collectOutput(async (io) => {
    define(command, io);
    return 0;
  });
  return command;
}

/** What of `mercat …` does not exist: null if all of it does. */
async function findMistake(line: string): Promise<string | null> {
  const [, name = '', ...args] = line.split(' ');
  if (name === '--version') return null;
  let command = await declare(name);
  if (!command) return `${line}: no command ${name}`;
  const [first = ''] = args;
  const subcommand = command.commands.find((one) => one.name() === first);
  if (command.commands.length > 0 && !subcommand) return `${line}: no command ${name} ${first}`;
  command = subcommand ?? command;
  const options = args.filter((arg) => arg.startsWith('--'));
  const unknown = options.find((option) => !command.options.some(({ long }) => long === option));
  return unknown === undefined ? null : `${line}: no option ${unknown}`;
}

/** The parts of a message between its placeholders. */
function partsOf(message: string): string[] {
  return message
    .split('…')
    .map((part) => part.replaceAll(/^\W+|[^\w.?!]+$/g, ''))
    .filter((part) => /\w/.test(part));
}

function isKnown(text: string): boolean {
  if (OTHER_WORDS.includes(text) || OTHER_PROGRAMS.test(text)) return true;
  if (/^Mercat[A-Z]\w+$/.test(text)) return readText('deploy/prometheus/alerts.yml').includes(`alert: ${text}\n`);
  if (/^(deploy|docs)\//.test(text)) return existsSync(path.join(root, text));
  if (/^[A-Z][A-Z_]+(_<CHAIN>)?(=\S+)?$/.test(text)) {
    return readText('docs/settings.md').includes(`| \`${text.replace(/=.*/, '')}\` |`);
  }
  return partsOf(text).every((part) => source.includes(part));
}

describe('the page about what is wrong', () => {
  test('each row has a symptom, a command, a meaning and a remedy', () => {
    assert.ok(rows.length > 60, `${rows.length} rows`);
    const incomplete = rows.filter((row) => {
      const cells = row
        .replaceAll(/`[^`]*`/g, 'x')
        .split('|')
        .slice(1, -1);
      return cells.length !== 4 || cells.some((cell) => cell.trim() === '');
    });
    assert.deepEqual(incomplete, []);
    assert.deepEqual(
      rows.filter((row) => !row.split('|')[2]?.trim().startsWith('`')),
      [],
      'the second cell must be a command',
    );
  });

  test('each command of mercat on the page exists, with its options', async () => {
    const lines = quoted.filter((text) => text.startsWith('mercat '));
    assert.ok(lines.length > 15, `${lines.length} commands`);
    const mistakes = await Promise.all(lines.map(findMistake));
    assert.deepEqual(
      mistakes.filter((mistake) => mistake !== null),
      [],
    );
    assert.notEqual(await findMistake('mercat webhooks state'), null);
    assert.notEqual(await findMistake('mercat sync NAME --twice'), null);
  });

  test('each message, setting, metric, alert and file that the page quotes exists in the program', () => {
    const unknown = quoted.filter((text) => !text.startsWith('mercat ') && !isKnown(text));
    assert.deepEqual(unknown, []);
    for (const invented of ['the server … is asleep', 'MercatBored', 'NO_SUCH_SETTING', 'docs/nothing.md']) {
      assert.equal(isKnown(invented), false, invented);
    }
  });

  test('each unit of systemd that the page names is in deploy/systemd', () => {
    const units = quoted
      .filter((text) => /^(systemctl|journalctl) /.test(text))
      .flatMap((text) => text.match(/\bmercat[\w-]*(\.timer)?/g) ?? []);
    assert.ok(units.length > 0);
    const missing = units.filter((unit) => {
      const file = unit.endsWith('.timer') ? unit : `${unit}.service`;
      return !existsSync(path.join(root, 'deploy/systemd', file));
    });
    assert.deepEqual(missing, []);
  });

  test('each link of the page leads to a page and a heading that exist', () => {
    const broken = [...page.matchAll(/\]\(([^)]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => {
        const [file = '', anchor] = target.split('#');
        const linked = file === '' ? PAGE : path.join('docs', file);
        if (!existsSync(path.join(root, linked))) return true;
        const headings = [...readText(linked).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toAnchor(heading));
        return anchor !== undefined && !headings.includes(anchor);
      });
    assert.deepEqual(broken, []);
  });
});

function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}
