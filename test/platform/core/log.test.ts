// The log has one JSON object for each line, with errors and their causes, and without secrets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../src/platform/core/log.ts';

function collect(level: Parameters<typeof createLog>[0]) {
  const lines: string[] = [];
  return { log: createLog(level, (line) => void lines.push(line)), lines };
}

test('a line has its time, level, message and fields', () => {
  const { log, lines } = collect('info');
  const error = new Error('the read failed', { cause: new Error('connection refused') });
  log.warn('a task failed', { task: 'expiry', error });
  const { time, stack, ...line } = JSON.parse(lines[0] ?? '');
  assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.match(stack, /^Error: the read failed\n {4}at /);
  const expected = { level: 'warn', message: 'a task failed', task: 'expiry' };
  assert.deepEqual(line, { ...expected, error: 'the read failed: connection refused' });
  assert.equal(lines.length, 1);
});

test('lines below the level are dropped', () => {
  const { log, lines } = collect('warn');
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).message),
    ['c', 'd'],
  );
  const silent = collect('silent');
  silent.log.error('e');
  assert.deepEqual(silent.lines, []);
});

test('secrets are removed from messages, fields and the causes of errors', () => {
  const { log, lines } = collect('info');
  const key = `mercat_live_${'aB3'.repeat(12)}`;
  const webhookSecret = `whsec_${'Zm9v'.repeat(8)}`;
  const secrets = ['hunter2', 'aB3aB3aB3', 'Zm9vZm9v', 'opensesame'];
  log.error(`cannot connect to postgres://mercat:hunter2@db:5432/mercat`, {
    header: 'Bearer opensesame',
    nested: { key, list: [webhookSecret] },
    error: new Error(`rejected ${key}`, { cause: new Error('redis://:hunter2@cache:6379') }),
  });
  const [line = ''] = lines;
  for (const secret of secrets) assert.ok(!line.includes(secret), `the secret ${secret} is in ${line}`);
  const glued = collect('info');
  glued.log.error(`key_${key} x${key} _${webhookSecret} XBearer opensesame`);
  for (const secret of secrets)
    assert.ok(!glued.lines[0]?.includes(secret), `the secret ${secret} is in ${glued.lines[0]}`);
  const parsed = JSON.parse(line);
  assert.equal(parsed.message, 'cannot connect to postgres://…@db:5432/mercat');
  assert.equal(parsed.nested.key, 'mercat_live_…');
});

test('text from a client cannot begin a new line of the log, nor control a terminal', () => {
  const { log, lines } = collect('info');
  const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join('');
  const userAgent = `curl\n{"level":"error","message":"forged"}\u2028\u2029${controls}`;
  log.info(userAgent, { userAgent });
  assert.equal(lines.length, 1);
  assert.doesNotMatch(lines[0] ?? '', /[\p{Cc}\u2028\u2029]/u);
  assert.equal(JSON.parse(lines[0] ?? '').userAgent, userAgent);
});
