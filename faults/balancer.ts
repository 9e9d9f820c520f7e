// HAProxy before several nodes, with health checks and without retries, so that a client sees each request that a node fails.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../test/support/free-port.ts';
import { temporaryDirectory } from '../test/support/temporary-directory.ts';
import { until } from '../test/support/until.ts';

/**
 * The balancer notices within this time and the time of one check that a node is not ready. This is shorter than the default grace period.
 */
const CHECK_PERIOD_MS = 300;
const START_LIMIT_MS = 120_000;

export type Balancer = {
  url: string;
  /** Sends no more requests to this node. Requests in progress are completed. */
  drain(index: number): Promise<void>;
  /** Sends requests to the node again after its health check succeeds. */
  resume(index: number): Promise<void>;
  /** Resolves when the balancer sends requests to the node. */
  chosen(index: number): Promise<void>;
  close(): Promise<void>;
};

export const canStartBalancer = (): boolean => spawnSync('haproxy', ['-v']).status === 0;

export async function startBalancer(nodeUrls: readonly string[]): Promise<Balancer> {
  const directory = temporaryDirectory();
  const socketPath = path.join(directory, 'admin.sock');
  const port = await freePort();
  const configuration = path.join(directory, 'haproxy.cfg');
  writeFileSync(configuration, toConfiguration(nodeUrls, { port, socketPath }));
  const child = spawn('haproxy', ['-db', '-f', configuration], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const command = (line: string) => sendCommand(socketPath, line);
  const isUp = async (index: number) => {
    const states = await command(`show servers state nodes`);
    // The columns: backend id, backend, server id, server, address, operational state (2: up), administrative state (0: none), …
    const columns = states.split('\n').map((line) => line.split(' '));
    return columns.some(
      ([, , , name, , isRunning, state]) => name === `node${index}` && isRunning === '2' && state === '0',
    );
  };
  const chosen = (index: number) => until(() => isUp(index).catch(() => false), START_LIMIT_MS, 'a node is not chosen');
  for (const index of nodeUrls.keys()) await chosen(index);
  return {
    url: `http://127.0.0.1:${port}`,
    drain: async (index) => void (await command(`set server nodes/node${index} state drain`)),
    resume: async (index) => void (await command(`set server nodes/node${index} state ready`)),
    chosen,
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function toConfiguration(
  nodeUrls: readonly string[],
  { port, socketPath }: { port: number; socketPath: string },
): string {
  const servers = nodeUrls.map((url, index) => `  server node${index} ${new URL(url).host} check`);
  return `global
  stats socket ${socketPath} mode 600 level admin
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 5s
  retries 0
listen nodes
  bind 127.0.0.1:${port}
  balance roundrobin
  option httpchk GET /readyz
  default-server inter ${CHECK_PERIOD_MS}ms fall 1 rise 1
${servers.join('\n')}
`;
}

/** Sends a command to the administrative socket, and returns its output. */
async function sendCommand(socketPath: string, line: string): Promise<string> {
  const socket = net.connect(socketPath);
  await once(socket, 'connect');
  socket.end(`${line}\n`);
  return text(socket);
}
