// Starts nginx, Varnish or HAProxy, with the configuration files of deploy/, in front of an origin on loopback.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const START_LIMIT_MS = 60_000;

export type SharedCache = {
  name: string;
  isInstalled: boolean;
  /** Starts the cache in front of the origin, a port on loopback. */
  start(originPort: number): Promise<RunningCache>;
};

export type RunningCache = { url: string; stop(): Promise<void> };

export const SHARED_CACHES: readonly SharedCache[] = [
  { name: 'nginx', isInstalled: runs('nginx', '-v'), start: startNginx },
  { name: 'Varnish', isInstalled: runs('varnishd', '-V'), start: startVarnish },
];

export const PROXIES: readonly SharedCache[] = [
  ...SHARED_CACHES,
  { name: 'HAProxy', isInstalled: runs('haproxy', '-v'), start: startHaproxy },
];

function runs(program: string, option: string): boolean {
  return spawnSync(program, [option]).status === 0;
}

async function startNginx(originPort: number): Promise<RunningCache> {
  const port = await freePort();
  const dir = copyOf('nginx', {
    'mercat.conf': [
      ['listen 80;', `listen 127.0.0.1:${port};`],
      ['/var/cache/nginx/mercat', 'cache'],
    ],
    'mercat-upstream.conf': [['127.0.0.1:8080', `127.0.0.1:${originPort}`]],
  });
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path tmp-${kind};`,
  );
  writeFileSync(
    path.join(dir, 'nginx.conf'),
    `${user} pid nginx.pid; error_log stderr; events {}
http { access_log off; ${temporary.join(' ')} include ${dir}/mercat*.conf; }`,
  );
  return run('nginx', ['-p', dir, '-c', path.join(dir, 'nginx.conf'), '-e', 'stderr', '-g', 'daemon off;'], port);
}

async function startVarnish(originPort: number): Promise<RunningCache> {
  const port = await freePort();
  const dir = copyOf('varnish', { 'mercat.vcl': [['.port = "8080"', `.port = "${originPort}"`]] });
  const work = path.join(dir, 'work');
  mkdirSync(work);
  const listen = ['-a', `127.0.0.1:${port}`, '-f', path.join(dir, 'mercat.vcl')];
  const options = ['-F', '-j', 'none', '-n', work, '-s', 'malloc,32m', '-p', 'http_gzip_support=off'];
  return run('varnishd', [...options, ...listen], port);
}

async function startHaproxy(originPort: number): Promise<RunningCache> {
  const port = await freePort();
  const dir = copyOf('haproxy', {
    'haproxy.cfg': [
      ['bind :8080', `bind 127.0.0.1:${port}`],
      ['10.0.0.11:8080', `127.0.0.1:${originPort}`],
      ['  server node1 10.0.0.12:8080 check\n', ''],
    ],
  });
  return run('haproxy', ['-db', '-f', path.join(dir, 'haproxy.cfg')], port);
}

/** Copies a folder of deploy/ and replaces texts in the copied files. Throws if a file does not contain a text that is to be replaced. */
function copyOf(folder: string, replacements: Record<string, [from: string, to: string][]>): string {
  const dir = path.join(temporaryDirectory(), folder);
  cpSync(fileURLToPath(new URL(`../../deploy/${folder}`, import.meta.url)), dir, { recursive: true });
  for (const [file, changes] of Object.entries(replacements)) {
    let text = readFileSync(path.join(dir, file), 'utf8');
    for (const [from, to] of changes) {
      if (!text.includes(from)) throw new Error(`deploy/${folder}/${file} does not contain ${from}`);
      text = text.replace(from, to);
    }
    writeFileSync(path.join(dir, file), text);
  }
  return dir;
}

async function run(program: string, args: readonly string[], port: number): Promise<RunningCache> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = once(child, 'exit');
  const isListening = async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${errors}`);
    return canConnect(port);
  };
  await until(isListening, START_LIMIT_MS, `${program} did not start`);
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
