// With REQUIRE_RECORDINGS=1, a run of all tests fails if the recordings are missing. It also fails if one of the recordings was read by
// no test, because such a recording checks nothing.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { listRecordings } from './recordings.ts';

/** Files that contain nothing that a test could check. */
const NO_RECORDING: ReadonlySet<string> = new Set([
  'README.md',
  'receipts/README.md',
  // Identifiers for an API that needs a key and that the service does not call.
  'payloads/pyth/feed_ids.txt',
]);

let file = '';

/** Call this before the tests. */
export function expectRecordings(): void {
  if (process.env['REQUIRE_RECORDINGS'] !== '1') return;
  if (listRecordings() === null) throw new Error('REQUIRE_RECORDINGS=1 is set, but ../shared/data does not exist');
  file = path.join(mkdtempSync(path.join(os.tmpdir(), 'mercat-recordings-')), 'read');
  writeFileSync(file, '');
  // The processes of the test files inherit this variable. Each process appends to the file the names of the recordings that it reads.
  process.env['RECORDINGS_READ'] = file;
}

/** Call this after all tests. */
export function checkRecordings(): void {
  if (file === '') return;
  const read = new Set(readFileSync(file, 'utf8').split('\n'));
  rmSync(path.dirname(file), { recursive: true });
  file = '';
  const unread = (listRecordings() ?? []).filter((name) => !read.has(name) && !NO_RECORDING.has(name));
  if (unread.length === 0) return;
  process.exitCode = 1;
  process.stderr.write(`These recordings were read by no test:\n${unread.map((name) => `  ${name}\n`).join('')}`);
}
