// Recordings: responses and records that vendors and other people published. They stand beside the repository, in
// `../shared/data`, and are never copied into it. The rules are tested on `test/fixtures`; tests of the recordings stand in
// `test/recordings`.

import { appendFileSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../../shared/data/', import.meta.url));

/** Set to 1 where a missing recording is a failure and no reason to skip a test. */
const IS_REQUIRED = process.env['REQUIRE_RECORDINGS'] === '1';

/** The names of all recordings, relative to their folder; null where the folder is missing. */
export function listRecordings(): string[] | null {
  if (!existsSync(FOLDER)) return null;
  return readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(FOLDER.length))
    .map((name) => name.replace(/^\//, ''))
    .toSorted();
}

/** The options of a test that reads these recordings: it is skipped, and counted as skipped, where one is missing. */
export function needsRecordings(...names: readonly string[]): { skip?: string } {
  const missing = names.filter((name) => !existsSync(FOLDER + name));
  return missing.length === 0 || IS_REQUIRED ? {} : { skip: `needs the recording ${missing.join(', ')}` };
}

/** For a test: the text of a recording, which is noted as read. Throws where it is missing. */
export function readRecording(name: string): string {
  const text = findRecording(name);
  if (text === null) throw new Error(`the recording ${name} is missing`);
  const file = process.env['RECORDINGS_READ'];
  if (file !== undefined) appendFileSync(file, `${name}\n`);
  return text;
}

/** For a replay server: the text of a recording, or null where it is missing. That a server has it proves nothing yet. */
export function findRecording(name: string): string | null {
  return existsSync(FOLDER + name) ? readFileSync(FOLDER + name, 'utf8') : null;
}
