// Makes small file systems for tests that simulate a power failure or fill the disk. Mounting needs root and mount(8). If mounting
// fails, the reason is returned, so that a test can be skipped with this reason.

import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdirSync, openSync, statfsSync, writeSync } from 'node:fs';
import path from 'node:path';

const MIB = 1024 * 1024;

export type Mounted = { unmount: () => void } | { reason: string };

/** Makes an ext4 file system in the file `image`. Returns null, or the reason why this machine cannot make one. */
export function makeExt4(image: string, size: string): string | null {
  return attempt('truncate', ['-s', size, image]) ?? attempt('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
}

export function mountImage(image: string, at: string): Mounted {
  return mount(['-o', 'loop', image, at], at);
}

export function mountMemory(size: string, at: string): Mounted {
  return mount(['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', at], at);
}

/** Writes a file that leaves `leftBytes` free on the file system, and returns the path of the file. */
export function fillDisk(disk: string, leftBytes: number): string {
  const ballast = path.join(disk, 'ballast');
  const fd = openSync(ballast, 'w');
  const block = Buffer.alloc(MIB, 1);
  const room = (): number => statfsSync(disk).bavail * statfsSync(disk).bsize - leftBytes;
  for (let left = room(); left > 0; left = room()) writeSync(fd, block, 0, Math.min(left, block.length));
  fsyncSync(fd);
  closeSync(fd);
  return ballast;
}

function mount(args: string[], at: string): Mounted {
  if (process.getuid?.() !== 0) return { reason: 'mounting a file system needs root' };
  mkdirSync(at, { recursive: true });
  const reason = attempt('mount', args);
  if (reason !== null) return { reason };
  let mounted = true;
  return {
    unmount: () => {
      // `-l` unmounts even while files are open. A test that failed may have left files open.
      if (mounted) execFileSync('umount', ['-l', at]);
      mounted = false;
    },
  };
}

function attempt(program: string, args: string[]): string | null {
  try {
    execFileSync(program, args, { stdio: 'pipe' });
    return null;
  } catch (error) {
    return `${program} failed here: ${(error as Error).message.split('\n').slice(0, 2).join(' ')}`;
  }
}
