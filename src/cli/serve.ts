// `mercat serve`: both faces of the service, until it is told to stop.

import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { ConfigOverrides } from '../config.ts';
import { isStartedByNpm, readConfig } from '../config.ts';
import { createLog } from '../core/log.ts';
import type { Service } from '../service.ts';
import { startService } from '../service.ts';
import type { Command, CommandIo } from './command.ts';
import { parseUsage } from './command.ts';
import { watchParent } from './npm-parent.ts';

const HELP = `Usage: mercat serve [--port N] [--host H] [--no-workers] [--no-sample]

Serves the marketplace interface at /v1 and its reference at /docs.

  --port N       port to listen on (setting PORT, default 8080; 0: a free one)
  --host H       address to listen on (setting HOST, default 127.0.0.1)
  --no-workers   leave the workers to another process (mercat work)
  --no-sample    leave an empty embedded database empty
`;

export const serveCommand: Command = {
  name: 'serve',
  summary: 'serve the interfaces, and run the workers',
  help: HELP,
  run: async (args, io) => {
    const { values } = parseUsage(serveCommand, () =>
      parseArgs({
        args,
        options: {
          port: { type: 'string' },
          host: { type: 'string' },
          'no-workers': { type: 'boolean' },
          'no-sample': { type: 'boolean' },
        },
      }),
    );
    const overrides: ConfigOverrides = {
      ...(values.port !== undefined && { PORT: values.port }),
      ...(values.host !== undefined && { HOST: values.host }),
    };
    const config = readConfig(undefined, overrides);
    const service = await startService({
      config,
      log: createLog(config.logLevel),
      workers: !values['no-workers'],
      sample: !values['no-sample'],
    });
    const dataDir = config.databaseUrl === null ? config.dataDir : null;
    greet(io, service, { dataDir, hasSample: dataDir !== null && !values['no-sample'] });
    const signal = isStartedByNpm() ? AbortSignal.any([io.signal, watchParent()]) : io.signal;
    if (!signal.aborted) await once(signal, 'abort');
    await service.close();
    return 0;
  },
};

/** What a new user needs to see: where it is, and what to try. */
function greet(
  { stdout }: CommandIo,
  { url, sampleRecords }: Service,
  { dataDir, hasSample }: { dataDir: string | null; hasSample: boolean },
): void {
  stdout.write(`Mercat serves on ${url}\n`);
  if (dataDir !== null) stdout.write(`Data: the embedded database in ${dataDir}\n`);
  if (sampleRecords > 0) {
    stdout.write(`Sample marketplace: ${sampleRecords} records loaded into the empty database\n`);
  }
  stdout.write(`
Try:
  curl '${url}/v1/collections?limit=3'
${hasSample ? `  curl '${url}/v1/collections/harbour-lights/listings?limit=3'\n` : ''}  open ${url}/docs

Load your own: npx mercat import FILE.ndjson          Stop: Ctrl-C
`);
}
