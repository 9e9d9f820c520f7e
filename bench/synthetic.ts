// Starts the synthetic chain in a separate process, so that its memory does not count as memory of the follower.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readFirstOutput } from './child-program.ts';

export const COLLECTION = '0x00000000000000000000000000000000000c011e';
export const PROTOCOL = '0x0000000000000068f116a894984e2db1123eb395';

export type SyntheticChain = { url: string; stop(): void };

export async function startSyntheticChain(shape: {
  blocks: number;
  fills: number;
  transfers: number;
  /** How long each response is delayed. */
  latencyMs?: number;
}): Promise<SyntheticChain> {
  const program = fileURLToPath(new URL('synthetic-chain.ts', import.meta.url));
  const args = [shape.blocks, shape.fills, shape.transfers, shape.latencyMs ?? 0].map(String);
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await readFirstOutput(child);
  return { url: `http://127.0.0.1:${port.trim()}`, stop: () => child.kill() };
}
