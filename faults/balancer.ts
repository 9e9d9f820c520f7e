// Starts HAProxy as the load balancer of several nodes, with the configuration in deploy/haproxy.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../test/support/free-port.ts';
import { temporaryDirectory } from '../test/support/temporary-directory.ts';
import { until } from '../test/support/until.ts';

const CONFIGURATION = new URL('../deploy/haproxy/haproxy.cfg', import.meta.url);
/** The longest wait for the balancer to choose a node, and for a drained node to end its requests. Long enough for a slow machine. */
const LIMIT_MS = 120_000;

export type Balancer = {
  url: string;
  /** Sends no more requests to this node, and waits until the node has no requests in progress. */
  drain(index: number): Promise<void>;
  /** Sends requests to the node again after its health check succeeds. */
  resume(index: number): Promise<void>;
  /** Resolves when the balancer sends requests to the node. */
  chosen(index: number): Promise<void>;
  close(): Promise<void>;
};

export const canStartBalancer = (): boolean => spawnSync('haproxy', ['-v']).status === 0;

/** `repeats`: whether the balancer sends a failed request again, to another node. Without repeats the client receives the failure. */
export async function startBalancer(nodeUrls: readonly string[], { repeats }: { repeats: boolean }): Promise<Balancer> {
  const directory = temporaryDirectory();
  const socketPath = path.join(directory, 'admin.sock');
  const port = await freePort();
  const configuration = path.join(directory, 'haproxy.cfg');
  writeFileSync(configuration, toConfiguration(nodeUrls, { port, socketPath, repeats }));
  const child = spawn('haproxy', ['-db', '-f', configuration], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const command = (line: string) => sendCommand(socketPath, line);
  const isUp = async (index: number) => {
    const states = await command('show servers state mercat');
    // The columns: backend id, backend, server id, server, address, operational state (2: up), administrative state (0: none), …
    const columns = states.split('\n').map((line) => line.split(' '));
    return columns.some(
      ([, , , name, , isRunning, state]) => name === `node${index}` && isRunning === '2' && state === '0',
    );
  };
  const chosen = (index: number) => until(() => isUp(index).catch(() => false), LIMIT_MS, 'a node is not chosen');
  for (const index of nodeUrls.keys()) await chosen(index);
  return {
    url: `http://127.0.0.1:${port}`,
    drain: async (index) => {
      await command(`set server mercat/node${index} state drain`);
      const isIdle = async () => readSessions(await command('show stat'), index) === 0;
      await until(isIdle, LIMIT_MS, 'a node has requests in progress');
    },
    resume: async (index) => void (await command(`set server mercat/node${index} state ready`)),
    chosen,
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

type ConfigurationOptions = { port: number; socketPath: string; repeats: boolean };

function toConfiguration(nodeUrls: readonly string[], { port, socketPath, repeats }: ConfigurationOptions): string {
  const lines = readFileSync(CONFIGURATION, 'utf8')
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .split('\n')
    .filter((line) => !/^ *server /.test(line) && (repeats || !/^ *(retries|retry-on) /.test(line)));
  const servers = nodeUrls.map((url, index) => `  server node${index} ${new URL(url).host} check`);
  const administration = ['global', `  stats socket ${socketPath} mode 600 level admin`];
  return [...administration, ...lines, ...servers, ...(repeats ? [] : ['  retries 0']), ''].join('\n');
}

/** The current sessions of a node in the output of `show stat`. */
function readSessions(statistics: string, index: number): number {
  // The columns: proxy, server, sessions in the queue, the largest number of them, current sessions, …
  const row = statistics.split('\n').find((line) => line.startsWith(`mercat,node${index},`));
  return Number(row?.split(',')[4]);
}

/** Sends a command to the administrative socket, and returns its output. */
async function sendCommand(socketPath: string, line: string): Promise<string> {
  const socket = net.connect(socketPath);
  await once(socket, 'connect');
  socket.end(`${line}\n`);
  return text(socket);
}
