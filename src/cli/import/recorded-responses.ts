// Recorded answers on their way into the intake: their rows become records, one a line, and what is said of a line is said of
// the row that it came from. Memory is bounded by one answer and by the lines that are under way.

import { parseExactJson } from '../../upstreams/exact-json.ts';
import type { ParsedPage } from '../../upstreams/rows.ts';
import type { RecordedReader } from '../../upstreams/recorded-format.ts';
import { splitValues } from './json-values.ts';

/** Where a row stands: pages and rows are counted from 1; no row where it is the page that is at fault. */
export type AnswerPlace = { page: number; row?: number };

/** What became of the rows of all files. */
export type AnswerTally = {
  pages: number;
  rows: number;
  /** Rows and pages of which no record could be made. */
  refused: number;
  /** Rows that were left out on purpose, by what they are. */
  leftOut: Map<string, number>;
};

export type AnswerRefusal = AnswerPlace & { reason: string };

export type AnswerLines = {
  /** Records in the public format, one a line. */
  chunks: AsyncIterable<Uint8Array>;
  /** The row of a line. */
  placeOf(line: number): AnswerPlace;
  /** Lets go of what is known of the lines up to this one. */
  forget(line: number): void;
};

export function createAnswerTally(): AnswerTally {
  return { pages: 0, rows: 0, refused: 0, leftOut: new Map() };
}

/** The rows of one file as lines. `onRefused` is told of each row that is refused before it is a record. */
export function toAnswerLines(
  source: AsyncIterable<Uint8Array>,
  reader: RecordedReader,
  { tally, onRefused }: { tally: AnswerTally; onRefused: (refusal: AnswerRefusal) => void },
): AnswerLines {
  const places = new Map<number, AnswerPlace>();
  let lines = 0;
  let forgotten = 0;

  const refuse = (place: AnswerPlace, reason: string) => {
    tally.refused += 1;
    onRefused({ ...place, reason });
  };

  const leaveOut = (what: string) => tally.leftOut.set(what, (tally.leftOut.get(what) ?? 0) + 1);

  /** The lines of one row. */
  const toLines = (row: unknown, place: AnswerPlace): string => {
    tally.rows += 1;
    const { records, rejected, unsupported, skipped }: ParsedPage = reader.parse(row);
    for (const reason of rejected) refuse(place, reason);
    for (const reason of unsupported) leaveOut(reason);
    if (skipped > 0) leaveOut(reader.skipped);
    let text = '';
    for (const record of records) {
      lines += 1;
      places.set(lines, place);
      text += `${JSON.stringify(record)}\n`;
    }
    return text;
  };

  async function* chunks(): AsyncGenerator<Uint8Array> {
    let page = 0;
    let row = 0;
    /** What the value at the top of the file holds: the rows of one answer, or answers; null until that is seen. */
    let array: { top: number; holds: 'rows' | 'answers' | null } = { top: 0, holds: null };
    for await (const { top, element, bytes } of splitValues(source)) {
      const read = readAnswer(reader, bytes);
      if (top !== array.top) array = { top, holds: null };
      const isNext = array.holds === 'rows';
      if (element && !('reason' in read)) array.holds ??= 'row' in read ? 'rows' : 'answers';
      if (!isNext) {
        page += 1;
        row = 0;
        tally.pages += 1;
      }
      let text = '';
      if ('rows' in read) for (const one of read.rows) text += toLines(one, { page, row: (row += 1) });
      else if ('row' in read && array.holds === 'rows') text = toLines(read.row, { page, row: (row += 1) });
      else {
        const reason = 'reason' in read ? read.reason : 'no answer of this format';
        refuse(isNext ? { page, row: (row += 1) } : { page }, reason);
      }
      if (text !== '') yield Buffer.from(text);
    }
  }

  return {
    chunks: chunks(),
    placeOf: (line) => {
      const place = places.get(line);
      if (!place) throw new RangeError(`line ${line} is of no row that is under way`);
      return place;
    },
    forget: (line) => {
      while (forgotten < line) places.delete((forgotten += 1));
    },
  };
}

/** The rows of an answer, or why it has none; or what may be a row by itself. */
function readAnswer(
  reader: RecordedReader,
  bytes: Uint8Array,
): { rows: readonly unknown[] } | { row: unknown } | { reason: string } {
  let answer: unknown;
  try {
    answer = parseExactJson(bytes);
  } catch (error) {
    // It is a TypeError for bytes that are not UTF-8.
    return { reason: error instanceof SyntaxError ? `not JSON: ${error.message}` : 'not UTF-8' };
  }
  const rows = reader.toRows(answer);
  if (rows === null) return { row: answer };
  return 'reason' in rows ? rows : { rows };
}
