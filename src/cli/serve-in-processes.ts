// `mercat serve` with several serving processes: runs their supervisor until the command is stopped.

import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config, ConfigOverrides } from '../service/config.ts';
import { createLog } from '../platform/core/log.ts';
import { systemRandom } from '../platform/core/random.ts';
import { Supervisor } from '../service/processes/supervisor.ts';
import { requireFreePort } from '../server/starting-server.ts';
import type { CommandIo } from './command.ts';
import { describeService } from './describe-service.ts';

const PROGRAM = fileURLToPath(new URL('./serving-process.ts', import.meta.url));

type Options = {
  processes: number;
  /** Whether the service runs tasks. */
  tasks: boolean;
  overrides: ConfigOverrides;
  signal: AbortSignal;
  graceMs: () => number;
};

export async function serveInProcesses(config: Config, options: Options, { stdout }: CommandIo): Promise<void> {
  const { processes, tasks, overrides, signal, graceMs } = options;
  const log = createLog(config.logLevel, undefined, { process: 'supervisor' });
  // The processes share the port, so none of them would notice that another service already uses the port.
  const port = await requireFreePort(config);
  let supervisor: Supervisor | null = null;
  try {
    supervisor = await Supervisor.start({
      processes,
      tasks,
      overrides: { ...overrides, PORT: String(port) },
      compileCache: toParent(getCompileCacheDir()),
      program: [PROGRAM],
      log,
      random: systemRandom,
      signal,
    });
    if (signal.aborted) return;
    stdout.write(
      describeService({ ...supervisor.started, sampleRecords: 0 }, { dataDir: null, hasSample: false, processes }),
    );
    if (!signal.aborted) await Promise.race([once(signal, 'abort'), supervisor.failed]);
  } finally {
    // If the signal arrives before all processes serve, the processes that already serve still get the grace period.
    await supervisor?.stop(graceMs());
  }
}

/**
 * Returns the directory that the serving processes must pass to `enableCompileCache`, so that they share the compiled code of this process.
 * Node adds a subdirectory for its version to this directory. `directory` is the subdirectory, so its parent is returned.
 */
function toParent(directory: string | undefined): string | null {
  return directory === undefined ? null : path.dirname(directory);
}
