// The program of one of several serving processes. The supervisor (service/processes/supervisor.ts) starts and stops the process.

import { enableCompileCache } from 'node:module';
import { readConfig } from '../service/config.ts';
import { OperatorError } from '../platform/core/errors.ts';
import { createLog } from '../platform/core/log.ts';
import { Membership } from '../service/processes/membership.ts';
import { saveCompiledCode } from './compiled-code.ts';

// A terminal and some service managers send a signal to every process of a service. This process ignores the signal, because the supervisor
// decides when the process stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

// Without the supervisor, nothing would stop this process. So it ends with the supervisor.
process.on('disconnect', () => process.exit());

const stopping = Promise.withResolvers<number>();
const membership = await Membership.join(
  {
    // If the supervisor has just ended, `send` fails. The callback receives this error, so that it is not thrown.
    send: (message) => void process.send?.(message, undefined, undefined, () => undefined),
    onMessage: (receive) => void process.on('message', receive),
  },
  stopping.resolve,
);
const { number, overrides, tasks, compileCache } = membership.start;
if (compileCache !== null) enableCompileCache(compileCache);
try {
  const config = readConfig(undefined, overrides);
  const { startService } = await import('../service/service.ts');
  const service = await startService({
    config,
    log: createLog(config.logLevel, undefined, { process: number }),
    workers: tasks && membership.isFirst,
    membership,
  });
  await membership.reportStarted({ url: service.url, hasConsole: service.hasConsole });
  saveCompiledCode();
  try {
    await service.drain(await Promise.race([stopping.promise, service.failed]));
  } finally {
    await service.close();
  }
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  await membership.reportFailed({ message: error.message, exitCode: error.exitCode });
  process.exitCode = 1;
}
process.disconnect?.();
