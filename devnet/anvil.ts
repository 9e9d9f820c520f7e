// The program that runs a local chain: finds it, starts it on a free loopback port, and ends it. It ends with the process that
// started it, however that one ends: a small shell between the two kills it when the pipe from here is closed.

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../src/core/errors.ts';

export type Anvil = {
  url: string;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
  /** Resolves when it ends by itself or is stopped. */
  ended: Promise<void>;
};

export type AnvilOptions = {
  chainId: number;
  accounts: number;
  /** Of the genesis block, in seconds. */
  timestamp: number;
  /** The program. Default: the package for this platform, else `anvil` on the PATH. */
  program?: string;
};

const START_TIMEOUT_MS = 15_000;
const STOP_PATIENCE_MS = 3_000;
const OUTPUT_KEPT_MAX = 8_192;
const BLOCK_GAS_LIMIT = '1000000000';
/** Each takes some 0.3 MB. Enough for reading the past of a fresh chain, and for any reorganisation. */
const STATES_KEPT = 300;
const ETHER_PER_ACCOUNT = '10000000';
/** Seaport 1.6 needs transient storage, which came with this one. */
const HARDFORK = 'cancun';
const NOT_FOUND_STATUS = 127;
const INSTALL_HINT =
  'install its package (npm install --no-save @foundry-rs/anvil-linux-amd64, or the one for your platform), or Foundry (https://getfoundry.sh)';
/** `$@` is the program. Its own input is closed, and the pipe that outlives nobody is held by the shell alone. */
const GUARD = 'exec 3<&0; "$@" 3<&- & pid=$!; { cat <&3 >/dev/null; kill $pid; } >/dev/null 2>&1 & wait $pid';

/** Starts a chain that mines when it is told to. Throws OperatorError when there is no program to run. */
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
    // In the order in which they were sent: a block is made of actions that follow from each other.
    order: 'fifo',
    // Of older blocks there is no state, only what is in them: states that anvil puts on disk come back without code.
    'prune-history': String(STATES_KEPT),
  };
  const args = ['--no-mining', ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])];
  // A group of its own: Ctrl-C at the terminal is for the parent, which ends the chain when it is done with it.
  const child = spawn('sh', ['-c', GUARD, 'sh', program, ...args], { stdio: 'pipe', detached: true });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  });
  // Closing the pipe of a chain that ended by itself fails, which is as good.
  child.stdin.on('error', () => undefined);
  const stop = () => stopChild(child, ended);
  try {
    return { url: `http://${await readAddress(child)}`, stop, ended };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The program of the package for this platform, else the name that the PATH may know. */
function findAnvil(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    return fileURLToPath(import.meta.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/bin/anvil`));
  } catch {
    return 'anvil';
  }
}

/** Host and port, from what the program says when it listens. */
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
    // The group of the shell and the chain, which is nobody else's.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, STOP_PATIENCE_MS);
  await ended;
  clearTimeout(timer);
}
