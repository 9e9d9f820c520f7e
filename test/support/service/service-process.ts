// `mercat serve` in a process of its own. A test can kill the process and start another process on the same data directory.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { programEnvironment } from '../program-environment.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const START_TIMEOUT_MS = 60_000;

export type ServiceProcess = {
  url: string;
  pid: number;
  socketPath: string;
  /** Sends SIGKILL, and waits for the end of the process. */
  kill(): Promise<void>;
  /** Sends SIGTERM, so that the process shuts down. Waits for the end of the process. */
  stop(): Promise<void>;
};

/** Starts the service. Resolves when the service listens. Kills the process if it does not listen within START_TIMEOUT_MS. */
export async function startServiceProcess(
  settings: Record<string, string> & { DATA_DIR: string },
  args: readonly string[] = ['--no-sample'],
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [MAIN, 'serve', ...args], {
    env: {
      ...programEnvironment(),
      HOME: settings.DATA_DIR,
      PORT: '0',
      LOG_LEVEL: 'error',
      PRICE_SOURCES: 'none',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the service did not start: ${output}`));
    }, START_TIMEOUT_MS);
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
    child.once('exit', () => reject(new Error(`the service ended: ${output}`)));
  });
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  const socketPath = path.join(settings.DATA_DIR, 'mercat.sock');
  return { url, pid: child.pid ?? 0, socketPath, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}

export function sendToSocket(
  socketPath: string,
  method: string,
  target: string,
  body?: object,
): Promise<{ status: number; body: any }> {
  const headers = { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path: target, method, headers }, (response) => {
      text(response).then((json) => resolve({ status: response.statusCode ?? 0, body: JSON.parse(json) }), reject);
    });
    call.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}
