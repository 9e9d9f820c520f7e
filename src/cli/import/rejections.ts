// Reports the refused rows of an import: prints the first few, and writes all of them to the file of the option --refused.

import { closeSync, openSync, writeSync } from 'node:fs';
import { describeError, OperatorError } from '../../platform/core/errors.ts';
import type { CommandIo } from '../command.ts';
import { printable } from '../output.ts';
import type { Progress } from '../progress.ts';
import type { RowPosition } from './recorded-responses.ts';
import { count } from './summary.ts';

/** A refused row and the reason. The row has a line number, or for recorded responses a page and a row number. */
export type RejectedRow = ({ line: number } | RowPosition) & { reason: string };

const PRINTED_MAX = 20;

export class RejectionReport implements Disposable {
  readonly #stderr: CommandIo['stderr'];
  readonly #path: string | null;
  readonly #file: number | null;
  #rejected = 0;

  /** `path`: the file for all refused rows, or null. Throws OperatorError if the file cannot be written. */
  constructor(stderr: CommandIo['stderr'], path: string | null) {
    this.#stderr = stderr;
    this.#path = path;
    this.#file = path === null ? null : openForWriting(path);
  }

  add(source: string, row: RejectedRow, progress: Progress): void {
    this.#rejected += 1;
    if (this.#rejected <= PRINTED_MAX) {
      progress.print(printable(`${source}:${describePosition(row)}: ${row.reason}`));
    }
    if (this.#file !== null) writeSync(this.#file, `${JSON.stringify({ file: source, ...row })}\n`);
  }

  /** Prints the number of refused rows that were not printed, if there are any. */
  end(): void {
    const notPrinted = this.#rejected - PRINTED_MAX;
    const hint = this.#path === null ? 'use --refused to write all of them to a file' : `all are in ${this.#path}`;
    if (notPrinted > 0) this.#stderr.write(`… and ${count(notPrinted)} more refused; ${hint}\n`);
  }

  [Symbol.dispose](): void {
    if (this.#file !== null) closeSync(this.#file);
  }
}

function openForWriting(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (cause) {
    throw new OperatorError(`${path} cannot be written: ${describeError(cause)}`, { exitCode: 2 });
  }
}

function describePosition(row: RejectedRow): string {
  if ('line' in row) return String(row.line);
  return row.row === undefined ? ` page ${row.page}` : ` page ${row.page}, row ${row.row}`;
}
