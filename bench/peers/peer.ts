// A peer is another program that is measured for comparison with the store. This file says how a peer is installed, filled with products and
// started, and which of its requests do the same work as those of the store.

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Options } from 'autocannon';
import { until } from '../../test/support/until.ts';

/** The measured kinds of requests: a list of 50 products, one product, a change of its description, a change of its stock. */
export const ROWS = ['list', 'read', 'update', 'stock'] as const;
export type Row = (typeof ROWS)[number];

/** Every program has this many products. */
export const PRODUCTS = 1_000;
/** The number of products that are read and changed, large enough that callers rarely wait for the same row. */
const CHANGED_PRODUCTS = 200;

export type Load = Pick<Options, 'url'> & Partial<Options>;

export type RunningPeer = { pid: number; loads: Record<Row, Load>; stop: () => Promise<unknown> };

export type Peer = {
  name: string;
  /** The goal for Mercat's request rate, as a multiple of the peer's request rate. Null if the rates are only displayed, without a goal. */
  aim: number | null;
  /** Fills the peer and starts it. `databaseUrl` is an empty database of a PostgreSQL server with durable commits. */
  start: (options: { databaseUrl: string; dir: string }) => Promise<RunningPeer>;
};

/** The time limit for each program that prepares a peer, and for the start of the peer. */
const SETUP_MS_MAX = 20 * 60_000;

/** The environment of the peers. Peers send usage data to their makers unless the telemetry variables are set. */
const QUIET = {
  MEDUSA_DISABLE_TELEMETRY: 'true',
  VENDURE_DISABLE_TELEMETRY: 'true',
  PONDER_TELEMETRY_DISABLED: 'true',
  NODE_ENV: 'production',
};

/**
 * Copies the folder of a peer out of the project and installs its packages there, without their install scripts. A later call
 * uses the same installation again. The variable PEERS_DIR names the folder of all installations.
 */
export async function installPeer(name: 'medusa' | 'vendure' | 'plain' | 'ponder'): Promise<string> {
  const dir = path.join(process.env['PEERS_DIR'] ?? path.join(os.tmpdir(), 'mercat-peers'), name);
  mkdirSync(dir, { recursive: true });
  cpSync(new URL(`./${name}/`, import.meta.url), dir, { recursive: true });
  if (existsSync(path.join(dir, 'node_modules', '.package-lock.json'))) return dir;
  await runToEnd('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], dir, {});
  return dir;
}

/** Runs a program of the peer. Rejects unless its exit code is 0. */
export async function runToEnd(program: string, args: string[], dir: string, env: object): Promise<void> {
  const child = start(program, args, dir, env);
  const [code] = (await once(child, 'exit', { signal: AbortSignal.timeout(SETUP_MS_MAX) })) as [number | null];
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} in ${dir} ended with the exit code ${code}`);
}

/** Starts a server of the peer, and waits until `url` responds. */
export async function startPeer(program: string, args: string[], dir: string, env: object, url: string) {
  const child = start(program, args, dir, env);
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`${program} ${args.join(' ')} ended`);
      return fetch(url).then(
        () => true,
        () => false,
      );
    },
    SETUP_MS_MAX,
    `${url} gives no response`,
  );
  const stop = async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return { pid: child.pid ?? 0, stop };
}

function start(program: string, args: string[], dir: string, env: object): ChildProcess {
  return spawn(program, args, {
    cwd: dir,
    env: { ...process.env, ...QUIET, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export const JSON_HEADERS = { 'content-type': 'application/json' };

/** One value for each of the CHANGED_PRODUCTS products. */
export function perProduct<T>(toValue: (index: number) => T): T[] {
  return Array.from({ length: CHANGED_PRODUCTS }, (_, index) => toValue(index));
}
