// Builds the image of the Containerfile with podman, and runs it without privileges and with a read-only root file system. PostgreSQL runs
// outside of the container. The base images are made from the programs on this machine, so that no image registry is needed. Run by
// `npm run test:deploy`.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { PostgresServer } from '../support/engines/postgres-server.ts';
import { canStartPostgres, createTestDatabase, startOwnPostgres } from '../support/engines/postgres-server.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { makeBuildImage, makeRuntimeImage, run } from './base-images.ts';
import { WHY_NOT_DEPLOYED } from './requirements.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_LIMIT_MS = 120_000;
const IMAGE_BYTES_MAX = 250e6;
const USER = '65532';
/**
 * These options differ from those in docs/deploying.md. The container shares the network of this machine, where PostgreSQL listens, and has
 * only limits that every machine can set.
 */
const OPTIONS = [
  '--read-only',
  '--tmpfs',
  '/tmp',
  '--cap-drop=all',
  '--security-opt=no-new-privileges',
  '--network=host',
  '--ulimit=nofile=4096:4096',
  '--ulimit=nproc=1024:1024',
];

/** runc is used if it is installed. Unlike crun, it also works on a machine that mounts both versions of control groups. */
const RUNTIME = spawnSync('which', ['runc']).status === 0 ? ['--runtime=runc'] : [];

const isInstalled = spawnSync('podman', ['info']).status === 0;
const isDebian = spawnSync('which', ['ldd', 'npm', 'awk', 'tar']).status === 0;
const isUsable = isInstalled && isDebian && process.getuid?.() === 0 && canStartPostgres();
const skip =
  WHY_NOT_DEPLOYED ??
  (isUsable ? false : 'podman, PostgreSQL, ldd, npm, awk or tar is not on this machine, or the user is not root');

describe('the container', { skip }, () => {
  const name = `mercat-test-${process.pid}`;
  const image = `localhost/${name}`;
  const bases = { BUILD_IMAGE: `${image}-build`, RUNTIME_IMAGE: `${image}-runtime` };
  let server: PostgresServer;
  let url: string;

  before(async () => {
    makeBuildImage(bases.BUILD_IMAGE, path.join(temporaryDirectory(), 'build'));
    makeRuntimeImage(bases.RUNTIME_IMAGE, path.join(temporaryDirectory(), 'runtime'));
    const base = Object.entries(bases).flatMap(([argument, tag]) => ['--build-arg', `${argument}=${tag}`]);
    const cache = `${run('npm', ['config', 'get', 'cache'])}:/npm-cache`;
    run('podman', ['build', '--isolation=chroot', '--network=host', '--volume', cache, ...base, '--tag', image, '.'], {
      cwd: ROOT,
    });
    server = await startOwnPostgres();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const settings = {
      PORT: String(port),
      HOST: '127.0.0.1',
      PRICE_SOURCES: 'none',
      DATABASE_URL: await createTestDatabase(server.url),
    };
    const environment = Object.entries(settings).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
    run('podman', [...RUNTIME, 'run', '--detach', '--name', name, ...OPTIONS, ...environment, image]);
    const isServing = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(isServing, START_LIMIT_MS, 'the container does not serve');
  });

  after(async () => {
    spawnSync('podman', ['rm', '--force', '--volumes', '--time', '0', name]);
    spawnSync('podman', ['rmi', '--force', image, ...Object.values(bases)]);
    await server?.stop();
  });

  test('the image is smaller than 250 MB', () => {
    const size = Number(run('podman', ['image', 'inspect', '--format', '{{.Size}}', image]));
    assert.ok(size < IMAGE_BYTES_MAX, `${(size / 1e6).toFixed(0)} MB`);
  });

  test('the container responds to /livez, and reads PostgreSQL for a request of /v1', async () => {
    assert.equal((await fetch(`${url}/livez`)).status, 200);
    const response = await fetch(`${url}/v1/collections?limit=3`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { data: [], pagination: { nextCursor: null, hasMore: false } });
  });

  test('the process is not root and has no capabilities', () => {
    const pid = run('podman', ['inspect', '--format', '{{.State.Pid}}', name]);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    assert.match(status, new RegExp(`^Uid:\\s+${USER}\\s+${USER}\\s`, 'm'));
    assert.match(status, /^CapEff:\s+0+$/m);
    assert.match(status, /^NoNewPrivs:\s+1$/m);
  });

  test('the process can write to /data and not to the root file system', () => {
    const write = (file: string) =>
      run('podman', ['exec', name, '/app/bin/node', '-e', `require('fs').writeFileSync('${file}', '')`]);
    write('/data/test');
    for (const file of ['/test', '/app/test', '/app/node_modules/.cache/mercat/test'])
      assert.throws(() => write(file), /EROFS|EACCES/, file);
  });

  test('the container ends with exit code 0 after SIGTERM', () => {
    run('podman', ['stop', '--time', '10', name]);
    assert.equal(run('podman', ['inspect', '--format', '{{.State.ExitCode}}', name]), '0');
  });
});
