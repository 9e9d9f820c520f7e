// A command imports records in its own process (LocalIntake) or through a running server (socket-client.ts). Both report the same events
// and the same summary.

import { OperatorError } from '../platform/core/errors.ts';
import type { ImportContext, ImportEvent, ImportOptions } from './import.ts';
import { importRecords } from './import.ts';
import type { ImportSummary } from './import-summary.ts';

export type ConnectionImportOptions = Omit<ImportOptions, 'onEvent'>;

/** The server that imports the records does not respond. The import ends at once, because the server cannot report what it has stored. */
export class ServerUnresponsive extends OperatorError {}

/** Called for each event. The import awaits the returned promise, so that a slow listener does not fill the memory with events. */
export type ImportListener = (event: ImportEvent) => void | Promise<void>;

export type IntakeConnection = {
  /** Rejects with an ImportFailure when the import fails. The `summary` of the ImportFailure counts what was stored before the failure. */
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
