// How commands ask how the workers are doing and have them work: through the server that runs on the data directory, else with
// workers in this process that do nothing by themselves.

import { systemClock } from '../core/clock.ts';
import { createChains } from '../core/chains.ts';
import { startWorkers } from '../service.ts';
import type { Operations } from '../shop/operations.ts';
import { createDatabaseStatus, createStatusReader } from '../tasks/status.ts';
import { callServer } from './connect-operator.ts';
import { reachData } from './connect.ts';

export type ReachedWorkers = {
  /** `status`, `sync.read` and `sync.start`. Throws OperatorError for what the operator has to mend. */
  call(operation: string, input: Record<string, unknown>): Promise<unknown>;
  /** Ends what this process began; what a server began goes on. */
  close(): Promise<void>;
};

export async function reachWorkers(): Promise<ReachedWorkers> {
  const reached = await reachData();
  if (reached.server) {
    return {
      call: (operation, input) => callServer(reached.socketPath, operation, input),
      close: () => Promise.resolve(),
    };
  }
  const { config, log, databases } = reached;
  const { serviceName, extraChain } = config;
  const intake = { ...databases, chains: createChains(extraChain), serviceName, clock: systemClock };
  const workers = startWorkers({ ...intake, config, log, random: Math.random }, { drive: false });
  const status = createStatusReader([createDatabaseStatus(databases), ...workers.status], systemClock);
  const operations: Operations = { ...workers.sync.operations, status };
  return {
    call: async (operation, input) => {
      const call = operations[operation];
      if (!call) throw new Error(`there is no operation ${operation}`);
      return call(input);
    },
    close: async () => {
      await workers.stop();
      await databases.close();
    },
  };
}
