// How many files and connections the system lets this process have open at a time. A process at its limit accepts no connections, and the
// embedded database cannot open its files.

import { readFileSync } from 'node:fs';

/** Below this limit, a few hundred clients can use up the descriptors. */
export const DESCRIPTORS_MIN = 1_024;

/** Null on a system without /proc. Infinity if there is no limit. */
export function readDescriptorLimit(): number | null {
  try {
    const [, soft = ''] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    if (soft === 'unlimited') return Number.POSITIVE_INFINITY;
    return soft === '' ? null : Number(soft);
  } catch {
    // Only Linux has this file.
    return null;
  }
}
