// The two services of a run. The first service uses the embedded engine. It reads the chain through an endpoint that sometimes fails or
// returns wrong data, and compares this data with a second endpoint. The second service uses PostgreSQL, and reads the chain directly.

import { rmSync } from 'node:fs';
import { directoryWithDatabase } from '../../test/support/engines/embedded-template.ts';
import type { PostgresServer } from '../../test/support/engines/postgres-server.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../../test/support/engines/postgres-server.ts';
import type { FaultyEndpoint, RpcFault } from '../../test/support/chain/faulty-endpoint.ts';
import { RPC_LIES, startFaultyEndpoint } from '../../test/support/chain/faulty-endpoint.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { FollowerOptions } from './followers.ts';

export type TwoServices = {
  settings(chainUrl: string): Promise<FollowerOptions[]>;
  /** How often each fault corrupted a response. */
  faults(): Record<string, number>;
  close(): Promise<void>;
};

/**
 * The faults of the first service's first endpoint. The service detects each of them immediately. It detects the well-formed but false
 * responses (RPC_LIES) because its second endpoint contradicts them. Other faults, such as a stall, would only slow the run.
 */
const FAULTS: readonly RpcFault[] = [
  'error',
  'nulls',
  'wrong-types',
  'wrong-id',
  'lagging',
  'removed-log',
  'foreign-log',
  'outside-log',
  'wrong-block-hash',
  'malformed-log',
  'duplicated-log',
  'shuffled-logs',
  'omitted-logs',
  ...RPC_LIES,
];

/** If this machine has no PostgreSQL, both services use the embedded engine. */
export function createTwoServices(options: { seed: number; faultShare: number }): TwoServices {
  const endpoints: FaultyEndpoint[] = [];
  const directories: string[] = [];
  let server: PostgresServer | null = null;
  const embedded = async () => {
    const dir = await directoryWithDatabase();
    directories.push(dir);
    return { DATA_DIR: dir };
  };
  return {
    settings: async (chainUrl) => {
      const endpoint = await startFaultyEndpoint(chainUrl, { ...options, faults: FAULTS });
      endpoints.push(endpoint);
      if (canRunPostgres()) server = await startPostgres();
      const second = server
        ? { DATA_DIR: temporaryDirectory(), DATABASE_URL: await createTestDatabase(server.url) }
        : await embedded();
      return [
        { name: 'embedded', settings: { ...(await embedded()), RPC_URL_ETHEREUM: `${endpoint.url},${chainUrl}` } },
        { name: server ? 'postgresql' : 'embedded 2', settings: { ...second, RPC_URL_ETHEREUM: chainUrl } },
      ];
    },
    faults: () => endpoints[0]?.counts ?? {},
    close: async () => {
      await Promise.all(endpoints.map((endpoint) => endpoint.close()));
      await server?.discard();
      for (const dir of directories) rmSync(dir, { recursive: true, force: true });
    },
  };
}
