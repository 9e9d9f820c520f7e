// The global set-up and tear-down of `npm test`. With REQUIRE_RECORDINGS=1 the run fails where the recordings are missing,
// and where one was read by no test: a recording that nobody reads proves nothing.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { listRecordings } from './recordings.ts';

/** Files without anything that a test could hold the program against. */
const NO_RECORDING: ReadonlySet<string> = new Set([
  'README.md',
  // A list of names for an interface that needs a key, and that nothing here calls.
  'payloads/pyth/feed_ids.txt',
]);

let file = '';

export async function globalSetup(): Promise<void> {
  if (process.env['REQUIRE_RECORDINGS'] !== '1') return;
  if (listRecordings() === null) throw new Error('REQUIRE_RECORDINGS=1, and there is no ../shared/data');
  file = path.join(mkdtempSync(path.join(os.tmpdir(), 'mercat-recordings-')), 'read');
  writeFileSync(file, '');
  // The processes of the test files inherit it.
  process.env['RECORDINGS_READ'] = file;
}

export async function globalTeardown(): Promise<void> {
  if (file === '') return;
  const read = new Set(readFileSync(file, 'utf8').split('\n'));
  rmSync(path.dirname(file), { recursive: true });
  file = '';
  const unread = (listRecordings() ?? []).filter((name) => !read.has(name) && !NO_RECORDING.has(name));
  if (unread.length === 0) return;
  process.exitCode = 1;
  process.stderr.write(`These recordings were read by no test:\n${unread.map((name) => `  ${name}\n`).join('')}`);
}
