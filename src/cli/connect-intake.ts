// How commands reach the intake: that of the running server, or one in this process.

import { systemClock } from '../core/clock.ts';
import { createChains } from '../core/chains.ts';
import { createSocketConnection } from '../intake/client.ts';
import type { IntakeConnection } from '../intake/connection.ts';
import { createLocalConnection } from '../intake/connection.ts';
import { reachData } from './connect.ts';

export async function connectIntake(): Promise<IntakeConnection> {
  const reached = await reachData();
  if (reached.server) return createSocketConnection(reached.socketPath);
  const { databases, config } = reached;
  const { serviceName, extraChain } = config;
  const context = { ...databases, chains: createChains(extraChain), serviceName, clock: systemClock };
  return createLocalConnection(context, () => databases.close());
}
