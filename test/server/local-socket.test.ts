// The local socket of a data directory with a long path is in the temporary directory. Sockets and directories of another user are not used.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { isServerListening, prepareSocketDirectory, socketPathOf } from '../../src/server/local-socket.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const OTHER_UID = 12_345;
const ownUid = process.getuid?.() ?? 0;
const skip = ownUid === 0 ? false : 'only root can give files to another user';

describe('the socket of a data directory with a long path', () => {
  const saved = process.env['TMPDIR'];
  let socketPath: string;
  before(() => (process.env['TMPDIR'] = temporaryDirectory()));
  after(() => {
    if (saved === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = saved;
  });
  beforeEach(() => {
    socketPath = socketPathOf(path.join('/', 'data'.repeat(30)));
    rmSync(path.dirname(socketPath), { recursive: true, force: true });
  });
  const refused = { name: 'OperatorError', message: /must be a directory that only its owner \(user \d+\) may use/ };

  test('the socket is in the temporary directory, in a subdirectory that only its owner may use', async () => {
    assert.equal(path.dirname(socketPath), path.join(process.env['TMPDIR'] ?? '', `mercat-${ownUid}`));
    assert.equal(await isServerListening(socketPath), false);
    prepareSocketDirectory(socketPath);
    assert.equal(statSync(path.dirname(socketPath)).mode & 0o777, 0o700);
    assert.equal(await isServerListening(socketPath), false);
  });

  test('the socket is not used in a directory that others may use, or behind a symbolic link', async () => {
    mkdirSync(path.dirname(socketPath));
    chmodSync(path.dirname(socketPath), 0o777);
    assert.throws(() => prepareSocketDirectory(socketPath), refused);
    await assert.rejects(isServerListening(socketPath), refused);
    rmSync(path.dirname(socketPath), { recursive: true });
    symlinkSync(temporaryDirectory(), path.dirname(socketPath));
    assert.throws(() => prepareSocketDirectory(socketPath), refused);
    await assert.rejects(isServerListening(socketPath), refused);
  });

  test('the socket is not used in a directory of another user', { skip }, async () => {
    prepareSocketDirectory(socketPath);
    chownSync(path.dirname(socketPath), OTHER_UID, OTHER_UID);
    assert.throws(() => prepareSocketDirectory(socketPath), refused);
    await assert.rejects(isServerListening(socketPath), refused);
  });
});

test('a command sends nothing to a socket that another user created in a public directory', { skip }, async (t) => {
  const directory = temporaryDirectory();
  const socketPath = path.join(directory, 'mercat.sock');
  const server = net.createServer().listen(socketPath);
  await once(server, 'listening');
  t.after(() => server.close());
  chownSync(socketPath, OTHER_UID, OTHER_UID);
  assert.equal(await isServerListening(socketPath), true);
  chmodSync(directory, 0o1777);
  await assert.rejects(isServerListening(socketPath), { name: 'OperatorError', message: /belongs to another user/ });
  chownSync(socketPath, ownUid, 0);
  assert.equal(await isServerListening(socketPath), true);
});
