// The two ways in which a command imports records: in its own process (here), or through a running server (socket-client.ts). Both read
// the same stream of bytes and report the same events and summary.

import type { ImportContext, ImportEvent, ImportOptions } from './import.ts';
import { importRecords } from './import.ts';
import type { ImportSummary } from './import-summary.ts';

export type ConnectionImportOptions = Omit<ImportOptions, 'onEvent'>;

/** Called for each event. The returned promise is awaited, so that a slow listener slows the import down instead of filling memory. */
export type ImportListener = (event: ImportEvent) => void | Promise<void>;

export type IntakeConnection = {
  /** A failed import rejects with an ImportFailure, whose summary counts what was stored before the failure. */
  import(
    source: AsyncIterable<Uint8Array>,
    options: ConnectionImportOptions,
    onEvent: ImportListener,
  ): Promise<ImportSummary>;
};

/** Imports in this process. */
export class LocalIntake implements IntakeConnection {
  readonly #context: ImportContext;

  constructor(context: ImportContext) {
    this.#context = context;
  }

  import(
    source: AsyncIterable<Uint8Array>,
    options: ConnectionImportOptions,
    onEvent: ImportListener,
  ): Promise<ImportSummary> {
    return importRecords(this.#context, source, { ...options, onEvent });
  }
}
