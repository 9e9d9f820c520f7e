// The global set-up and tear-down of `npm test`. The processes of the test files inherit the variables that are set here.

import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanUp } from './engines/cleanup.ts';
import type { PostgresServer } from './engines/postgres-server.ts';
import { canStartPostgres, migratedTemplate, startOwnPostgres } from './engines/postgres-server.ts';
import { checkRecordings, expectRecordings } from './recordings/every-recording.ts';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/mercat/', import.meta.url));

/** The directory whose files Linux keeps in memory. */
const MEMORY = '/dev/shm';
/** The free space that a run needs. Each running test file has databases of up to some hundred megabytes. */
const SPACE_MIN_BYTES = 4 * 1024 ** 3;

let server: PostgresServer | null = null;
/** Holds what the files of this run make for each other. */
let shared: string | null = null;

export async function globalSetup(): Promise<void> {
  expectRecordings();
  // Temporary files are kept in memory. On a disk, the tests would wait for thousands of fsyncs.
  if (hasSpaceInMemory()) process.env['TMPDIR'] ??= MEMORY;
  // Each test file runs in its own process. These processes load the same modules, so they share the compiled code.
  process.env['NODE_COMPILE_CACHE'] ??= path.join(CACHE, 'compiled');
  shared = mkdtempSync(path.join(os.tmpdir(), 'mercat-run-'));
  process.env['TEST_SAMPLE_TEMPLATE'] = path.join(shared, 'sample');
  // All test files share this server, except files whose tests stop or freeze a server.
  if (!process.env['TEST_DATABASE_URL'] && canStartPostgres()) {
    server = await startOwnPostgres();
    process.env['TEST_DATABASE_URL'] = server.url;
  }
  const { TEST_DATABASE_URL: url } = process.env;
  if (url) process.env['TEST_DATABASE_TEMPLATE'] = await migratedTemplate(url);
}

export async function globalTeardown(): Promise<void> {
  await cleanUp();
  await server?.discard();
  if (shared !== null) rmSync(shared, { recursive: true, force: true });
  checkRecordings();
}

function hasSpaceInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= SPACE_MIN_BYTES;
  } catch {
    return false; // The system has no such directory.
  }
}
