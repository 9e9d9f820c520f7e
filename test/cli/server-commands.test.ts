// Tests commands that call a running server, with real processes: the server hangs, the command is stopped, or the server belongs to another
// user.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../../src/platform/database/embedded/embedded.ts';
import { embeddedDirectoryOf } from '../../src/platform/database/embedded/location.ts';
import { isServerListening, socketPathOf } from '../../src/server/local-socket.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { programEnvironment } from '../support/program-environment.ts';
import type { ServiceProcess } from '../support/service/service-process.ts';
import { startServiceProcess } from '../support/service/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** A command that hangs is killed after this time. The limits of the commands are far below it. */
const HANGS_MS = 90_000;
/** Long enough for the starting server to try the database several times. */
const POLLS_MS = 1_000;
const OTHER_UID = 65_534;

type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };

/** Runs a command in a process. `stopAfterMs`: sends one SIGTERM after this time. */
async function run(
  settings: Record<string, string>,
  args: readonly string[],
  { uid, stopAfterMs, input }: { uid?: number; stopAfterMs?: number; input?: string } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...programEnvironment(), HOME: temporaryDirectory(), ...settings },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const kill = setTimeout(() => child.kill('SIGKILL'), HANGS_MS);
  const stop = stopAfterMs === undefined ? null : setTimeout(() => child.kill('SIGTERM'), stopAfterMs);
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  clearTimeout(kill);
  if (stop) clearTimeout(stop);
  return { code, signal, stdout, stderr };
}

test('a server that starts while a command has the embedded database open waits for the command; later commands wait for the server', async (t) => {
  const settings = { DATA_DIR: path.join(temporaryDirectory(), 'data') };
  const command = await openEmbedded({ dir: embeddedDirectoryOf(settings.DATA_DIR) });
  t.after(() => command.close());
  const starting = startServiceProcess(settings);
  // A start that fails removes its socket, and the wait ends with the failure.
  await Promise.race([
    starting,
    until(() => isServerListening(socketPathOf(settings.DATA_DIR)), HANGS_MS, 'the server does not hold its socket'),
  ]);
  const listed = run(settings, ['collections', 'list']);
  await delay(POLLS_MS);
  await command.close();
  const service = await starting;
  t.after(() => service.kill());
  const { code, stdout, stderr } = await listed;
  assert.deepEqual([code, stdout, stderr], [0, 'no collection is followed\n', '']);
});

forEachEngine('commands beside a running server', (engine) => {
  let settings: Record<string, string>;
  let service: ServiceProcess;
  before(async () => {
    settings = await engine.settings();
    service = await startServiceProcess(settings as Record<string, string> & { DATA_DIR: string });
  });
  after(() => service.kill());

  test('mercat collections add passes its options on, among them the standard of the tokens', async () => {
    const address = `0x${'ab'.repeat(20)}`;
    const args = ['--standard', 'erc1155', '--name', 'Prints', '--json'];
    const { code, stdout, stderr } = await run(settings, ['collections', 'add', 'ethereum', address, ...args]);
    assert.deepEqual([code, stderr], [0, '']);
    const { collectionId, name, standard } = JSON.parse(stdout);
    assert.deepEqual([collectionId, name, standard], [`ethereum_${address}`, 'Prints', 'erc1155']);
  });

  describe('while the server hangs', () => {
    before(() => process.kill(service.pid, 'SIGSTOP'));
    after(() => process.kill(service.pid, 'SIGCONT'));

    const NAMING_COMMANDS: readonly (readonly string[])[] = [
      ['status'],
      ['shops', 'create', 'Corner shop'],
      ['imports', 'list'],
      ['sync', 'expiry', '--once'],
      ['import', '-'],
      ['audit'],
    ];
    test('each command ends by itself and names the process that does not respond', async () => {
      const input = `${JSON.stringify({ kind: 'collection' })}\n`;
      const ended = await Promise.all(NAMING_COMMANDS.map((args) => run(settings, args, { input })));
      for (const [index, { code, stderr }] of ended.entries()) {
        const name = NAMING_COMMANDS[index]?.join(' ') ?? '';
        assert.match(stderr, new RegExp(`the server \\(pid ${service.pid}\\) does not respond`), name);
        assert.equal(code, 1, name);
        assert.doesNotMatch(stderr, /\n\s+at /, name);
      }
    });

    test('each command ends at the first signal', async () => {
      const stopped = [['status'], ['shops', 'list'], ['keys', 'list'], ['audit'], ['sync', 'expiry']];
      const startedAt = performance.now();
      const ended = await Promise.all(stopped.map((args) => run(settings, args, { stopAfterMs: 3_000 })));
      for (const [index, { code, stderr }] of ended.entries()) {
        assert.equal(code, 143, `${stopped[index]?.join(' ')}: ${stderr}`);
        assert.match(stderr, /^mercat: stopped/, stopped[index]?.join(' ') ?? '');
      }
      assert.ok(performance.now() - startedAt < HANGS_MS / 2);
    });

    if (engine.name === 'embedded') {
      test('doctor and backup say that the server does not respond', async () => {
        const file = path.join(temporaryDirectory(), 'file');
        const [doctor, backup] = await Promise.all([run(settings, ['doctor']), run(settings, ['backup', file])]);
        const expected = new RegExp(`the server \\(pid ${service.pid}\\) does not respond`);
        assert.match(doctor.stdout, expected);
        assert.equal(doctor.code, 1);
        assert.match(backup.stderr, expected);
        assert.equal(backup.code, 1);
      });
    }
  });

  test('doctor says that clients share the address of a proxy that TRUST_PROXY does not name', async () => {
    const read = async () => {
      const { stdout } = await run(settings, ['doctor', '--json']);
      return (JSON.parse(stdout) as { name: string; level: string; message: string }[]).find(
        ({ name }) => name === 'client addresses',
      );
    };
    assert.equal(await read(), undefined);
    await fetch(`${service.url}/v1`, { headers: { 'x-forwarded-for': '203.0.113.1' } });
    const finding = await read();
    assert.deepEqual([finding?.level, finding?.message.startsWith('1 requests came')], ['warn', true]);
  });

  test('a command continues when the server responds late', async () => {
    process.kill(service.pid, 'SIGSTOP');
    const waiting = run(settings, ['shops', 'list']);
    await delay(4_000);
    process.kill(service.pid, 'SIGCONT');
    assert.equal((await waiting).code, 0);
  });

  const skip = process.getuid?.() === 0 ? false : 'only root can run a command as another user';
  for (const mode of [0o700, 0o755]) {
    test(
      `a command of another user names the user of the data directory (mode 0${mode.toString(8)})`,
      { skip },
      async () => {
        const dataDir = settings['DATA_DIR'] ?? '';
        chmodSync(dataDir, mode);
        const commands = [['status'], ['shops', 'list'], ['doctor']];
        // On PostgreSQL this command does not use the server.
        if (engine.name === 'embedded') commands.push(['backup', '/tmp/never-written'], ['work']);
        const ended = await Promise.all(commands.map((args) => run(settings, args, { uid: OTHER_UID })));
        for (const [index, { code, stdout, stderr }] of ended.entries()) {
          const name = commands[index]?.join(' ') ?? '';
          assert.match(
            stdout + stderr,
            /the data directory .* belongs to user root: (?:\n +-> )?run the command as this user/,
            name,
          );
          assert.equal(code, 1, name);
          assert.doesNotMatch(stderr, /\n\s+at |node:/, name);
        }
      },
    );
  }
});
