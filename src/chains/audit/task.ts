// The task that audits tokens of the followed collections without a command, so that a token with a wrong owner is found and corrected.

import { findChainCursor } from '../../chain-log/queries/chain-cursors.ts';
import type { Task } from '../../tasks/task.ts';
import type { ChainContext } from '../context.ts';
import { auditTokens, toComparing } from './audit.ts';
import { noteWrongBlocks } from './wrong-blocks.ts';

const PERIOD_MS = 60 * 60_000;
const DEADLINE_MS = 10 * 60_000;
/** How many tokens of each chain one run draws. */
const SAMPLE = 100;
/**
 * For this long, a collection is not read again because of a further token. Reading again corrects nothing if a contract moves tokens without an
 * event, and such a collection must not be read again in every run.
 */
const COLLECTION_PAUSE_MS = 24 * 60 * 60_000;

export function createAuditTask(context: ChainContext): Task {
  const { main, clock, followed, random } = context;
  /** When each collection was last noted to be read again. */
  const noted = new Map<string, number>();
  const isPaused = (id: string) => clock() - (noted.get(id) ?? -Infinity) < COLLECTION_PAUSE_MS;
  return {
    name: 'audit',
    periodMs: PERIOD_MS,
    deadlineMs: DEADLINE_MS,
    run: async (signal, report) => {
      let [read, changed] = [0, 0];
      const readers = followed.readers();
      for (const [index, reader] of readers.entries()) {
        signal.throwIfAborted();
        report({ done: index, total: readers.length, what: 'chains' });
        if (!(await findChainCursor(main, reader.chain.id))) continue;
        const sample = { seed: String(random()), limit: SAMPLE };
        const { tokens, wrong } = await auditTokens(toComparing(context, reader), sample);
        const due = wrong.filter(({ collectionId }) => !isPaused(collectionId));
        await noteWrongBlocks(context, reader.chain.id, due);
        for (const { collectionId } of due) noted.set(collectionId, clock());
        read += tokens.compared;
        changed += due.length;
      }
      return { read, changed, refused: 0 };
    },
  };
}
