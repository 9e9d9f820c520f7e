// Reads the first rows of a file. `mercat import --explain` guesses the meaning of the columns from these rows.

import type { Chains } from '../../platform/core/chains.ts';
import { JsonNumber } from '../../platform/core/json-text.ts';
import type { ColumnMap } from '../../intake/csv/column-map.ts';
import { describeDialect, detectDialect } from '../../intake/csv/dialect.ts';
import { findInHeader, findInObject, RowReader } from '../../intake/csv/row-reader.ts';
import { readCells } from '../../intake/csv/rows.ts';
import { splitLines } from '../../intake/lines.ts';
import { parseObject } from '../../intake/records/parse.ts';
import type { SampledColumn } from './column-guess.ts';
import { toJsonLines } from './json-records.ts';

const SAMPLE_ROWS_MAX = 200;
/** Members of nested objects become columns down to this depth. Deeper members are left out. */
const DEPTH_MAX = 5;

export type FileSample = {
  description: string;
  columns: SampledColumn[];
  rows: number;
  /** Returns a function that makes the raw record of a row. The function throws RecordRejected if a conversion rejects the row. */
  createReader: (chains: Chains, map: ColumnMap) => (row: number) => Record<string, unknown>;
};

export async function sampleCsv(head: Buffer, chunks: AsyncIterable<Uint8Array>): Promise<FileSample> {
  const [header = [], ...cells] = await readFirstRows(chunks);
  const columns = header.map((name, index) => ({
    name: name.trim(),
    samples: cells.map((row) => row[index] ?? '').filter((cell) => cell.trim() !== ''),
  }));
  return {
    description: ['CSV', ...describeDialect(detectDialect(head))].join(', '),
    columns: columns.filter(({ name }) => name !== ''),
    rows: cells.length,
    createReader: (chains, map) => {
      const reader = new RowReader(chains, map, findInHeader(header));
      return (row) => reader.read(cells[row] ?? []);
    },
  };
}

async function readFirstRows(chunks: AsyncIterable<Uint8Array>): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const group of readCells(chunks)) {
    rows.push(...group.flatMap(({ cells }) => (cells ? [cells] : [])));
    if (rows.length > SAMPLE_ROWS_MAX) break;
  }
  return rows.slice(0, SAMPLE_ROWS_MAX + 1);
}

/** The first JSON objects of a file, with numbers as JsonNumbers. Values that are not objects are left out. */
export async function sampleObjects(chunks: AsyncIterable<Uint8Array>): Promise<Record<string, unknown>[]> {
  const objects: Record<string, unknown>[] = [];
  for await (const lines of splitLines(toJsonLines(chunks, () => undefined))) {
    for (const { text } of lines) {
      const parsed = text === null ? null : parseObject(text);
      if (parsed && 'object' in parsed) objects.push(parsed.object);
    }
    if (objects.length >= SAMPLE_ROWS_MAX) break;
  }
  return objects.slice(0, SAMPLE_ROWS_MAX);
}

/** Returns a sample with one column for each path in the objects that leads to a text, a number, a boolean or null. */
export function toObjectSample(objects: readonly Record<string, unknown>[]): FileSample {
  const samples = new Map<string, string[]>();
  for (const object of objects) collectMembers(object, '', samples);
  return {
    description: 'JSON objects',
    columns: [...samples].map(([name, texts]) => ({ name, samples: texts.filter((text) => text.trim() !== '') })),
    rows: objects.length,
    createReader: (chains, map) => {
      const reader = new RowReader<object>(chains, map, findInObject);
      return (row) => reader.read(objects[row] ?? {});
    },
  };
}

function collectMembers(object: object, prefix: string, samples: Map<string, string[]>, depth = 1): void {
  for (const [name, value] of Object.entries(object) as [string, unknown][]) {
    const path = `${prefix}${name}`;
    if (typeof value === 'object' && value !== null && !(value instanceof JsonNumber)) {
      if (!Array.isArray(value) && depth < DEPTH_MAX) collectMembers(value, `${path}.`, samples, depth + 1);
      continue;
    }
    const texts = samples.get(path) ?? [];
    samples.set(path, texts);
    if (value instanceof JsonNumber) texts.push(value.text);
    else if (typeof value === 'string' || typeof value === 'boolean') texts.push(String(value));
  }
}
