// Starts simulated chains in separate processes, so that their memory does not count as memory of the follower.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readFirstOutput } from '../support/child-program.ts';

export const COLLECTION = '0x00000000000000000000000000000000000c011e';
export const PROTOCOL = '0x0000000000000068f116a894984e2db1123eb395';
export const BLUR = '0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5';

export type SyntheticChain = {
  url: string;
  /** How many JSON-RPC calls the chain has received. */
  countCalls(): Promise<number>;
  stop(): void;
};

export async function startSyntheticChain(shape: {
  blocks: number;
  fills: number;
  transfers: number;
  /** How many tokens of another collection are sold on Blur in each block. */
  others?: number;
  /** Whether every second transfer moves the token that the transfer before it has minted. If false, all transfers are mints. */
  moves?: boolean;
  /** How long each response is delayed. */
  latencyMs?: number;
}): Promise<SyntheticChain> {
  const { blocks, fills, transfers, others = 0, latencyMs = 0, moves = false } = shape;
  const args = [blocks, fills, transfers, latencyMs, others, moves ? 1 : 0].map(String);
  const { url, stop } = await startChain(fileURLToPath(new URL('./synthetic-chain.ts', import.meta.url)), args);
  return { url, countCalls: async () => Number(await (await fetch(url)).text()), stop };
}

export type StoredChain = {
  url: string;
  /** Sets the number of the newest block. */
  setHead(block: number): Promise<void>;
  stop(): void;
};

/** Serves the blocks of a file. Each line is a JSON array of the logs of one block; the first line is block `first`. */
export async function startStoredChain(first: number, file: string): Promise<StoredChain> {
  const { url, stop } = await startChain(fileURLToPath(new URL('./stored-chain.ts', import.meta.url)), [
    String(first),
    file,
  ]);
  return { url, setHead: async (block) => void (await fetch(url, { method: 'PUT', body: String(block) })), stop };
}

async function startChain(program: string, args: readonly string[]): Promise<{ url: string; stop(): void }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await readFirstOutput(child);
  return { url: `http://127.0.0.1:${port.trim()}`, stop: () => child.kill() };
}
