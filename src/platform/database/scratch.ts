// Opens a temporary embedded database that has no rows. Closing the database removes its directory.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Database } from './port.ts';
import { createDatabase } from './port.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { migrate } from './migrate.ts';
import { OperatorError, describeError } from '../core/errors.ts';

/** The database has both schemas. */
export async function openScratch(): Promise<Database> {
  const parent = makeDirectory();
  const remove = () => rmSync(parent, { recursive: true, force: true });
  try {
    // If this engine stops, only its statements fail. The process continues.
    const { pool, close } = await openEmbedded({ dir: path.join(parent, 'db'), onFatal: () => undefined });
    const onClose = () => close().finally(remove);
    const database = createDatabase(pool, { engine: 'embedded', name: 'scratch', onClose });
    await migrate(database, 'main');
    await migrate(database, 'indexer');
    return database;
  } catch (error) {
    remove();
    throw error;
  }
}

/** Throws OperatorError if the folder for temporary files cannot be written. */
function makeDirectory(): string {
  try {
    return mkdtempSync(path.join(os.tmpdir(), 'mercat-scratch-'));
  } catch (error) {
    const message = `no temporary database can be created in ${os.tmpdir()}: ${describeError(error)}; set TMPDIR to another folder`;
    throw new OperatorError(message, { cause: error });
  }
}
