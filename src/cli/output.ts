// Formats text for people: tables, emphasis on a terminal, and imported text with its control characters escaped.

import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

/** Styles the text if `stream` is a terminal with colours and NO_COLOR is not set. */
export function emphasize(style: Style, text: string, stream: Writable): string {
  return styleText(style, text, { stream });
}

export type Cell = string | number | null;

/** One line of column heads, and one line for each row. Columns of numbers are aligned to the right. Null is printed as -. */
export function formatTable(heads: readonly string[], rows: readonly (readonly Cell[])[], stream: Writable): string {
  const texts = rows.map((row) => row.map((cell) => (cell === null ? '-' : printable(String(cell)))));
  const columns = heads.map((head, column) => ({
    width: Math.max(head.length, ...texts.map((row) => row[column]?.length ?? 0)),
    isNumeric: rows.some((row) => typeof row[column] === 'number'),
  }));
  const toLine = (cells: readonly string[]) =>
    columns
      .map(({ width, isNumeric }, column) => {
        const cell = cells[column] ?? '';
        return isNumeric ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const head = emphasize('bold', toLine(heads.map((text) => text.toUpperCase())), stream);
  return [head, ...texts.map(toLine)].map((line) => `${line}\n`).join('');
}

/** Escapes control characters, because imported text must not control the terminal on which it is printed. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Quotes the text as one argument for a POSIX shell. Text without characters that are special to the shell is returned without quotes. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
