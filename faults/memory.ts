// Reads the resident memory of a process.

import { readFileSync } from 'node:fs';
import type { Program } from './program.ts';

const KIB_PER_MIB = 1024;

/** In MiB. */
export function residentMiB({ pid }: Program): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / KIB_PER_MIB;
}
