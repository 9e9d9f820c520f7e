// The fixtures of `test/fixtures`: responses in the shapes that vendors send, written for these tests. Names and addresses
// are made up.

import { readFileSync } from 'node:fs';

const FOLDER = new URL('../fixtures/', import.meta.url);

export function readFixture(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}

/** A fixture as JSON, a new value each time. */
export function parseFixture(name: string): any {
  return JSON.parse(readFixture(name));
}
