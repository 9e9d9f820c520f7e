// A real process that writes to the embedded database is killed at varying moments. Every acknowledged row must still be stored.
// CRASHES sets the number of kills.

import path from 'node:path';
import test from 'node:test';
import { assertAcknowledged, kill, startWriter } from '../../support/engines/embedded.ts';
import { copyDatabase } from '../../support/engines/embedded-template.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROUNDS = Number(process.env['CRASHES'] ?? 8);

test(`${ROUNDS} kills in a row lose no acknowledged row and do not block the next start`, async () => {
  const root = temporaryDirectory();
  const dir = path.join(root, 'db');
  const ackFile = path.join(root, 'acks');
  await copyDatabase(dir, 'empty');
  for (let round = 1; round <= ROUNDS; round++) {
    // The writer repeats a cycle of single rows, batches, checkpoints and vacuums. The kills are spread over this cycle.
    const writer = await startWriter(dir, ackFile, (round * 37) % 101);
    await kill(writer);
    await assertAcknowledged(dir, ackFile, `after kill ${round}`);
  }
});
