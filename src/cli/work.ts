// `mercat work`: runs the workers without a server.

import { once } from 'node:events';
import { readConfig } from '../service/config.ts';
import { createLog } from '../platform/core/log.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { saveCompiledCode } from './compiled-code.ts';
import { requireDatabase } from './connect.ts';
import { exitSoonAfter } from './exit-deadline.ts';

export const defineWork: DefineCommand = (work, io) => {
  work
    .description(
      'Run the tasks that keep the index and the prices fresh (mercat status lists them) and deliver webhooks, without serving. ' +
        'While a server runs, this command needs PostgreSQL, because the embedded database can be open in one process only.',
    )
    .action(() => runWorkers(io));
};

async function runWorkers({ signal, stdout, stderr }: CommandIo): Promise<void> {
  const config = readConfig();
  requireDatabase(config);
  exitSoonAfter(signal, stderr);
  const { startWorkerProcess } = await import('../service/work.ts');
  await using workers = await startWorkerProcess({ config, log: createLog(config.logLevel) });
  stdout.write('The workers are running. Stop: Ctrl-C\n');
  saveCompiledCode();
  if (!signal.aborted) await Promise.race([once(signal, 'abort'), workers.failed]);
}
