// Finds, starts and stops anvil, the program that runs a local chain, on a free loopback port. Anvil also stops if this process is killed:
// the shell that started anvil has a pipe from this process, and kills anvil when the pipe is closed.

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../src/platform/core/errors.ts';

export type Anvil = {
  url: string;
  /** Stops anvil. Resolves when anvil has ended. */
  stop(): Promise<void>;
  /** Resolves when anvil has ended for any reason. */
  ended: Promise<void>;
};

export type AnvilOptions = {
  chainId: number;
  accounts: number;
  /** The time of the genesis block, in seconds. */
  timestamp: number;
  /** The program to run. Default: anvil from the package for this platform, or else from the PATH. */
  program?: string;
};

const START_TIMEOUT_MS = 15_000;
const STOP_PATIENCE_MS = 3_000;
const OUTPUT_KEPT_MAX = 8_192;
const BLOCK_GAS_LIMIT = '1000000000';
/**
 * The number of newest blocks whose state anvil keeps, with about 0.3 MB for each. This is enough for a follower that reads a new chain
 * from its start, and for the deepest reorganisation.
 */
const STATES_KEPT = 300;
const ETHER_PER_ACCOUNT = '10000000';
/** The first hardfork with transient storage, which Seaport 1.6 needs. */
const HARDFORK = 'cancun';
const NOT_FOUND_STATUS = 127;
const INSTALL_HINT =
  'install its package (npm install --no-save @foundry-rs/anvil-linux-amd64, or the one for your platform), or Foundry (https://getfoundry.sh)';
/** `$@` is the program with its arguments. The program's copy of the pipe is closed, so that only the shell holds the pipe. */
const GUARD = 'exec 3<&0; "$@" 3<&- & pid=$!; { cat <&3 >/dev/null; kill $pid; } >/dev/null 2>&1 & wait $pid';

/** Starts a chain that mines only on request. Throws OperatorError if anvil is not installed or does not start. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const program = options.program ?? findAnvil();
  const flags = {
    host: '127.0.0.1',
    port: '0',
    'chain-id': String(options.chainId),
    timestamp: String(options.timestamp),
    hardfork: HARDFORK,
    'gas-limit': BLOCK_GAS_LIMIT,
    accounts: String(options.accounts),
    balance: ETHER_PER_ACCOUNT,
    // Transactions are mined in the order of their sending, because an action may depend on earlier actions of its block.
    order: 'fifo',
    // Without this setting, anvil moves old states to disk. When anvil reads such a state back, its contracts have no code.
    'prune-history': String(STATES_KEPT),
  };
  // By default anvil allows every website to send requests to the chain.
  const args = ['--no-mining', '--no-cors', ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])];
  // The child has a separate process group, so that Ctrl-C at the terminal ends only this process, which then stops the chain.
  const child = spawn('sh', ['-c', GUARD, 'sh', program, ...args], { stdio: 'pipe', detached: true });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  });
  // If the chain has ended by itself, closing the pipe fails harmlessly.
  child.stdin.on('error', () => undefined);
  const stop = () => stopChild(child, ended);
  try {
    return { url: `http://${await readAddress(child)}`, stop, ended };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The program in the package for this platform, or else `anvil` on the PATH. */
function findAnvil(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    return fileURLToPath(import.meta.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/bin/anvil`));
  } catch {
    return 'anvil';
  }
}

/** Reads host and port from the line that anvil prints when it listens. */
function readAddress(child: ChildProcess & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream }) {
  return new Promise<string>((resolve, reject) => {
    let output = '';
    const fail = (reason: string) => reject(new OperatorError(`cannot start a local chain: ${reason}`));
    const timer = setTimeout(() => fail('anvil did not listen in time'), START_TIMEOUT_MS);
    const read = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_KEPT_MAX);
      const address = /Listening on (\S+)\n/.exec(output)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      child.stdout.off('data', read).resume();
      resolve(address);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', (error) => {
      clearTimeout(timer);
      fail(error.message);
    });
    child.once('exit', (status) => {
      clearTimeout(timer);
      const lastLine = output.trim().split('\n').at(-1) ?? '';
      fail(status === NOT_FOUND_STATUS ? `anvil is not installed: ${INSTALL_HINT}` : `anvil ended: ${lastLine}`);
    });
  });
}

async function stopChild(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  child.stdin?.end();
  const timer = setTimeout(() => {
    // The process group contains only the shell and anvil.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, STOP_PATIENCE_MS);
  await ended;
  clearTimeout(timer);
}
