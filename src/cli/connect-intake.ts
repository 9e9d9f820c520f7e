// How commands reach the intake: that of the running server, or one in this process.

import { createContext } from '../context.ts';
import { SocketIntake } from '../intake/socket-client.ts';
import type { IntakeConnection } from '../intake/connection.ts';
import { LocalIntake } from '../intake/connection.ts';
import { reachData } from './connect.ts';

export async function connectIntake(): Promise<IntakeConnection> {
  const reached = await reachData();
  if (reached.server) return new SocketIntake(reached.socketPath);
  const context = createContext(reached);
  return new LocalIntake(context, async () => {
    await context.close();
    await reached.databases.close();
  });
}
