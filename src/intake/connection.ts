// How a command reaches the intake: in its own process, or (client.ts) through a running server. Either way the same
// stream goes in, and the same events and summary come out.

import type { ImportContext, ImportEvent, ImportOptions } from './import.ts';
import { importRecords } from './import.ts';
import type { ImportSummary } from './import-summary.ts';

export type IntakeConnection = {
  /** Rejects with an ImportFailure that knows what had been landed. */
  import(
    source: AsyncIterable<Uint8Array>,
    options: Omit<ImportOptions, 'onEvent'>,
    onEvent: (event: ImportEvent) => void | Promise<void>,
  ): Promise<ImportSummary>;
  close(): Promise<void>;
};

/** An intake in this process. `close` gives back what the context was opened from. */
export function createLocalConnection(
  context: ImportContext,
  close: () => Promise<void> = () => Promise.resolve(),
): IntakeConnection {
  return {
    import: (source, options, onEvent) => importRecords(context, source, { ...options, onEvent }),
    close,
  };
}
