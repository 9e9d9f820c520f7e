// The folder to which `mercat backup` writes backups that are named by the service and the time. Services with different names (SERVICE_NAME)
// can share a folder. Also the folders in which backups for standard output are written before they are sent.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

/** A backup in progress writes all the time. One that has written nothing for this long was killed. */
const ABANDONED_MS = 12 * 3_600_000;
const TIME = /-(\d{4}-\d{2}-\d{2})T(\d{2})(\d{2})(\d{2})Z$/;

export class BackupFolder {
  readonly #folder: string;
  readonly #service: string;
  readonly #backup: RegExp;
  /** The name of an incomplete backup: platform/database/backup/file.ts. */
  readonly #incomplete: RegExp;

  constructor(folder: string, service: string) {
    this.#folder = folder;
    this.#service = service;
    const name = `${service}-\\d{4}-\\d{2}-\\d{2}T\\d{6}Z`;
    this.#backup = new RegExp(`^${name}$`);
    this.#incomplete = new RegExp(`^${name}\\.part-\\d+-[0-9a-f]+$`);
  }

  /** The file of a backup that begins at `now`. */
  fileAt(now: number): string {
    return path.join(this.#folder, `${this.#service}-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '')}Z`);
  }

  /** The names of the backups up to `now`, and of those that a wrong clock has named for a later time, both oldest first. */
  list(now: number): { past: string[]; future: string[] } {
    const names = readdirSync(this.#folder)
      .filter((name) => this.#backup.test(name))
      .toSorted();
    return { past: names.filter((name) => timeOf(name) <= now), future: names.filter((name) => timeOf(name) > now) };
  }

  remove(names: readonly string[]): void {
    for (const name of names) rmSync(path.join(this.#folder, name), { force: true });
  }

  /** Removes the incomplete files of backups that were killed. */
  removeAbandoned(now: number): void {
    const names = readdirSync(this.#folder).filter((name) => this.#incomplete.test(name));
    this.remove(names.filter((name) => isAbandoned(path.join(this.#folder, name), now)));
  }
}

/** The time in the name of a backup, in milliseconds. */
export function timeOf(name: string): number {
  return Date.parse(name.replace(TIME, '$1T$2:$3:$4Z').slice(-'YYYY-MM-DDTHH:MM:SSZ'.length));
}

/** No folder of an operator has this name, such as `backup-202601`, because what is abandoned is deleted. `mkdtemp` appends six characters. */
const DRAFT_PREFIX = '.mercat-backup-to-stdout-';

/** Makes a folder that only this user can read, for a backup that is sent to standard output when it is complete. */
export function makeDraftFolder(parent: string): string {
  return mkdtempSync(path.join(parent, DRAFT_PREFIX));
}

/** Removes the folders of `makeDraftFolder` whose commands were killed. */
export function removeAbandonedDrafts(parent: string, now: number): void {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(DRAFT_PREFIX))) {
    const folder = path.join(parent, name);
    const entries = readdirSync(folder).map((entry) => path.join(folder, entry));
    if ([folder, ...entries].every((entry) => isAbandoned(entry, now)))
      rmSync(folder, { recursive: true, force: true });
  }
}

function isAbandoned(entry: string, now: number): boolean {
  const found = statSync(entry, { throwIfNoEntry: false });
  return found !== undefined && found.mtimeMs < now - ABANDONED_MS;
}
