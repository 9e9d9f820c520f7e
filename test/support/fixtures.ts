// Reads the fixtures in `test/fixtures`: responses in the shapes that vendors send, written for these tests. Their names and
// addresses are made up.

import { readFileSync } from 'node:fs';

const FOLDER = new URL('../fixtures/', import.meta.url);

export function readFixture(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}

/** Parses a fixture as JSON. Each call returns a new value, which the test may change. */
export function parseFixture(name: string): any {
  return JSON.parse(readFixture(name));
}
