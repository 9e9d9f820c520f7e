// `mercat serve`: runs the HTTP APIs and the workers until it is stopped, in one process or in several.

import { once } from 'node:events';
import type { ConfigOverrides } from '../service/config.ts';
import { isStartedByNpm, readConfig } from '../service/config.ts';
import { createLog } from '../platform/core/log.ts';
import { hasEmbeddedDatabase } from '../platform/database/embedded/location.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { saveCompiledCode } from './compiled-code.ts';
import { exitSoonAfter } from './exit-deadline.ts';
import { isTerminated } from './interruption.ts';
import { describeService } from './describe-service.ts';
import { watchParent } from './npm-parent.ts';
import { servingProcessesOf } from './serving-processes.ts';

export const defineServe: DefineCommand = (serve, io) => {
  // The library stores one value for both `--workers` and `--no-workers`, so the later option would replace the earlier one. Listeners keep
  // both options.
  let processes: string | null = null;
  let tasks = true;
  serve
    .description(
      'Serve the web console at /, the marketplace API at /v1, the store API at /api/v1, the intake at /intake/v1 and their reference at /docs, and ' +
        'run the workers. A sample marketplace is loaded into an embedded database that is empty.',
    )
    .option('--port <number>', 'port to listen on (setting PORT, default 8080; 0: a free port)')
    .option('--host <host>', 'address to listen on (setting HOST, default 127.0.0.1)')
    .option(
      '--workers <number>',
      'how many processes serve requests, with PostgreSQL and Redis (setting WORKERS, default 1; auto: one for each core)',
    )
    .option('--no-workers', 'do not run the tasks, because another process runs them (mercat work)')
    .option('--no-sample', 'do not load the sample marketplace')
    .addHelpText('after', '\nExample:\n  PRICE_SOURCES=coinbase mercat serve --port 8081')
    .on('option:workers', (number: string) => (processes = number))
    .on('option:no-workers', () => (tasks = false))
    .action(({ port, host, sample }) => {
      const overrides: ConfigOverrides = {
        ...(port !== undefined && { PORT: port }),
        ...(host !== undefined && { HOST: host }),
        ...(processes !== null && { WORKERS: processes }),
      };
      return runServer({ overrides, tasks, sample }, io);
    });
};

type Options = { overrides: ConfigOverrides; tasks: boolean; sample: boolean };

async function runServer({ overrides, tasks, sample }: Options, io: CommandIo): Promise<void> {
  const config = readConfig(undefined, overrides);
  const signal = isStartedByNpm() ? AbortSignal.any([io.signal, watchParent()]) : io.signal;
  // After SIGTERM a load balancer needs time to notice that this node stops. An embedded database needs no such time: only one process can
  // serve it, so there is no load balancer. After Ctrl-C a user waits for the end, so the process ends without a grace period.
  const graceMs = () => (config.databaseUrl !== null && isTerminated(signal) ? config.shutdownGraceMs : 0);
  exitSoonAfter(signal, io.stderr, graceMs);
  const processes = servingProcessesOf(config);
  if (processes > 1) {
    const { serveInProcesses } = await import('./serve-in-processes.ts');
    return serveInProcesses(config, { processes, tasks, overrides, signal, graceMs }, io);
  }
  const { startService } = await import('../service/service.ts');
  const dataDir = config.databaseUrl === null ? config.dataDir : null;
  if (dataDir !== null && !hasEmbeddedDatabase(dataDir))
    io.stdout.write(`Creating the embedded database in ${dataDir}. The first start takes a while.\n`);
  const service = await startService({ config, log: createLog(config.logLevel), workers: tasks, sample });
  io.stdout.write(describeService(service, { dataDir, hasSample: dataDir !== null && sample }));
  saveCompiledCode();
  try {
    if (!signal.aborted) await Promise.race([once(signal, 'abort'), service.failed]);
    await service.drain(graceMs());
  } finally {
    await service.close();
  }
}
