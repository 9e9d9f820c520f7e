// Measures a running process: memory after a garbage collection, open descriptors and open connections.

import { readdirSync, readlinkSync } from 'node:fs';
import type { Program } from '../program.ts';
import { isReached } from '../wait.ts';
import { MEMORY_LINE } from './report-memory.ts';

/** The settings that make a process report its memory. */
export const REPORTING = { NODE_OPTIONS: `--import ${new URL('./report-memory.ts', import.meta.url).href}` };

const REPORT_LIMIT_MS = 30_000;
const BYTES_PER_MIB = 1024 * 1024;

export type Holding = {
  /** JavaScript objects and buffers after a garbage collection, in MiB. */
  heap: number;
  /** Resident memory, in MiB. */
  resident: number;
  descriptors: number;
  /** Open sockets. `descriptors` counts them too. */
  connections: number;
};

export async function measure(program: Program): Promise<Holding> {
  const reports = () => program.lines.filter((line) => line.startsWith(MEMORY_LINE));
  const before = reports().length;
  program.signal('SIGUSR2');
  if (!(await isReached(() => reports().length > before, performance.now() + REPORT_LIMIT_MS)))
    throw new Error(`a process did not report its memory: ${program.lines.slice(-3).join(' ')}`);
  const usage = JSON.parse(reports().at(-1)?.slice(MEMORY_LINE.length) ?? '') as NodeJS.MemoryUsage;
  const targets = listDescriptors(program.pid);
  return {
    heap: (usage.heapUsed + usage.external) / BYTES_PER_MIB,
    resident: usage.rss / BYTES_PER_MIB,
    descriptors: targets.length,
    connections: targets.filter((target) => target.startsWith('socket:')).length,
  };
}

/** What each open descriptor of the process refers to. */
function listDescriptors(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      // The descriptor was closed after the folder was listed.
      return [];
    }
  });
}
