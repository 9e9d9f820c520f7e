// A simulated power cut. A writer process is stopped with SIGSTOP, and the image of its file system is copied. The copy has the
// data that was flushed to the disk, but not the data that the kernel held in memory. The test checks that the copy has every
// acknowledged row. The environment variable CRASHES sets the number of power cuts.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';
import { makeExt4, mountImage } from '../../support/engines/file-systems.ts';
import { assertAcknowledged, kill, startWriter } from '../../support/engines/embedded.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROUNDS = Number(process.env['CRASHES'] ?? 3);

test(`${ROUNDS} simulated power cuts lose no acknowledged row`, async (t) => {
  const root = temporaryDirectory();
  const image = path.join(root, 'disk.img');
  const copy = path.join(root, 'copy.img');
  const ackFile = path.join(root, 'acks');
  const failure = makeExt4(image, '512M');
  if (failure !== null) return t.skip(failure);
  for (let round = 1; round <= ROUNDS; round++) {
    const disk = mountImage(image, path.join(root, 'disk'));
    if ('reason' in disk) return t.skip(disk.reason);
    try {
      const writer = await startWriter(path.join(root, 'disk', 'db'), ackFile, (round * 37) % 101);
      try {
        writer.child.kill('SIGSTOP');
        execFileSync('cp', ['--sparse=always', image, copy]);
      } finally {
        await kill(writer);
      }
    } finally {
      disk.unmount();
    }
    const after = mountImage(copy, path.join(root, 'copy'));
    assert.ok('unmount' in after);
    try {
      await assertAcknowledged(path.join(root, 'copy', 'db'), ackFile, `after power cut ${round}`);
    } finally {
      after.unmount();
    }
  }
});
