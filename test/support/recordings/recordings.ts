// Recordings: responses and records that vendors and other people published. They are beside the repository, in `../shared/data`,
// and are never copied into the repository. Only the tests in `test/recordings` need them. All other tests use `test/fixtures`.

import { appendFileSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const FOLDER = fileURLToPath(new URL('../../../../shared/data/', import.meta.url));

/** If true, a test whose recording is missing fails. If false, the test is skipped. */
const IS_REQUIRED = process.env['REQUIRE_RECORDINGS'] === '1';

/** The names of all recordings, relative to their folder. Null if the folder is missing. */
export function listRecordings(): string[] | null {
  if (!existsSync(FOLDER)) return null;
  return readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(FOLDER.length))
    .map((name) => name.replace(/^\//, ''))
    .toSorted();
}

/**
 * The options of a test that reads these recordings. If a recording is missing, the test is skipped, unless recordings are
 * required.
 */
export function needsRecordings(...names: readonly string[]): { skip?: string } {
  const missing = names.filter((name) => !existsSync(FOLDER + name));
  return missing.length === 0 || IS_REQUIRED ? {} : { skip: `needs the recording ${missing.join(', ')}` };
}

/** For a test: returns the text of a recording, and notes that a test read it. Throws if the recording is missing. */
export function readRecording(name: string): string {
  const text = findRecording(name);
  if (text === null) throw new Error(`the recording ${name} is missing`);
  noteRead(name);
  return text;
}

function noteRead(name: string): void {
  const file = process.env['RECORDINGS_READ'];
  if (file !== undefined) appendFileSync(file, `${name}\n`);
}

/** For a test: returns the JSON of a recording that is compressed with gzip, as `readRecording` returns a text. */
export function readCompressed(name: string): any {
  noteRead(name);
  return JSON.parse(gunzipSync(readFileSync(FOLDER + name)).toString());
}

/** For a replay server: the text of a recording, or null if it is missing. The recording does not count as read by a test. */
export function findRecording(name: string): string | null {
  return existsSync(FOLDER + name) ? readFileSync(FOLDER + name, 'utf8') : null;
}
