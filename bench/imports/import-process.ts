// Imports NDJSON files one after the other. Does this in a process of its own, so that the measured memory and CPU time include no other work.
// Usage: import-process.ts ENGINE ADDRESS FILE… The database must be migrated. Prints one line of JSON of the type ImportFigures.

import { createReadStream } from 'node:fs';
import { readConfig } from '../../src/service/config.ts';
import { createContext } from '../../src/service/context.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { importRecords } from '../../src/intake/import.ts';
import { useTarget } from '../support/databases.ts';
import type { WorkFigures } from '../support/measure.ts';
import { measureWork, peakMiB } from '../support/measure.ts';

/** `files`: the figures of each file. `peakMiB`: the largest resident memory of the process. */
export type ImportFigures = { files: WorkFigures[]; peakMiB: number };

const [engine, address = '', ...files] = process.argv.slice(2);

const figures = await useTarget(
  { engine: engine === 'embedded' ? 'embedded' : 'postgresql', address },
  async (database): Promise<ImportFigures> => {
    const databases = { main: database, indexer: database };
    const context = createContext({ config: readConfig({}), log: createLog('warn'), databases });
    const measured: WorkFigures[] = [];
    for (const file of files) {
      const work = () => importRecords(context, createReadStream(file), { format: 'ndjson' });
      measured.push(await measureWork(database, work));
    }
    await context.mergeActivity();
    return { files: measured, peakMiB: peakMiB() };
  },
);
process.stdout.write(`${JSON.stringify(figures)}\n`);
