// A small file system that a fault fills up. Mounting it needs root.

import { chmodSync } from 'node:fs';
import path from 'node:path';
import { mountMemory } from '../test/support/engines/file-systems.ts';
import { temporaryDirectory } from '../test/support/temporary-directory.ts';
import type { FaultContext } from './fault.ts';

/** Mounts a file system of this size until the fault has ended, and returns its folder, which every user may enter. */
export function mountSmallDisk({ onEnd }: FaultContext, size: string): string {
  const root = temporaryDirectory();
  // PostgreSQL does not run as root, so its user must be able to enter the folder above the file system.
  chmodSync(root, 0o755);
  const disk = path.join(root, 'disk');
  const mounted = mountMemory(size, disk);
  if ('reason' in mounted) throw new Error(mounted.reason);
  onEnd(mounted.unmount);
  return disk;
}
