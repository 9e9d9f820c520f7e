// `mercat serve`: runs the HTTP APIs and the workers in one process until it is stopped.

import { once } from 'node:events';
import type { ConfigOverrides } from '../config.ts';
import { isStartedByNpm, readConfig } from '../config.ts';
import { createLog } from '../core/log.ts';
import { hasEmbeddedDatabase } from '../database/embedded/location.ts';
import type { Service } from '../service.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { saveCompiledCode } from './compiled-code.ts';
import { exitSoonAfter } from './exit-deadline.ts';
import { isTerminated } from './interruption.ts';
import { watchParent } from './npm-parent.ts';

export const defineServe: DefineCommand = (serve, io) => {
  serve
    .description(
      'Serve the web console at /, the marketplace API at /v1, the store API at /api/v1, the intake at /intake/v1 and their reference at /docs, and ' +
        'run the workers. A sample marketplace is loaded into an embedded database that is empty.',
    )
    .option('--port <number>', 'port to listen on (setting PORT, default 8080; 0: a free port)')
    .option('--host <host>', 'address to listen on (setting HOST, default 127.0.0.1)')
    .option('--no-workers', 'leave the workers to another process (mercat work)')
    .option('--no-sample', 'do not load the sample marketplace')
    .addHelpText('after', '\nExample:\n  PRICE_SOURCES=coinbase mercat serve --port 8081')
    .action((options) => runServer(options, io));
};

type Options = { port?: string; host?: string; workers: boolean; sample: boolean };

async function runServer({ port, host, workers, sample }: Options, io: CommandIo): Promise<void> {
  const overrides: ConfigOverrides = {
    ...(port !== undefined && { PORT: port }),
    ...(host !== undefined && { HOST: host }),
  };
  const config = readConfig(undefined, overrides);
  const signal = isStartedByNpm() ? AbortSignal.any([io.signal, watchParent()]) : io.signal;
  // After SIGTERM a balancer needs time to notice that this node stops. An embedded database has no balancer, because no other process can
  // serve it. After Ctrl-C a user waits for the end, so the process ends without a grace period.
  const graceMs = () => (config.databaseUrl !== null && isTerminated(signal) ? config.shutdownGraceMs : 0);
  exitSoonAfter(signal, io.stderr, graceMs);
  const { startService } = await import('../service.ts');
  const dataDir = config.databaseUrl === null ? config.dataDir : null;
  if (dataDir !== null && !hasEmbeddedDatabase(dataDir))
    io.stdout.write(`Creating the embedded database in ${dataDir}. The first start takes a while.\n`);
  const service = await startService({ config, log: createLog(config.logLevel), workers, sample });
  io.stdout.write(describeService(service, { dataDir, hasSample: dataDir !== null && sample }));
  saveCompiledCode();
  if (!signal.aborted) await once(signal, 'abort');
  await service.drain(graceMs());
  await service.close();
}

/** Describes the running service to a new user. */
function describeService(
  { url, hasConsole, sampleRecords }: Service,
  { dataDir, hasSample }: { dataDir: string | null; hasSample: boolean },
): string {
  const lines = [
    `Mercat serves on ${url}`,
    ...(hasConsole ? [`Console: ${url}/ (open it in a browser)`] : []),
    ...(dataDir === null ? [] : [`Data: the embedded database in ${dataDir}`]),
    ...(sampleRecords > 0 ? [`Sample marketplace: ${sampleRecords} records loaded into the empty database`] : []),
    '',
    'Try:',
    `  curl '${url}/v1/collections?limit=3'`,
    ...(hasSample ? [`  curl '${url}/v1/collections/harbour-lights/listings?limit=3'`] : []),
    `  open ${url}/docs`,
    '',
    'Load your data: npx --no mercat import FILE.ndjson          Stop: Ctrl-C',
  ];
  return `${lines.join('\n')}\n`;
}
