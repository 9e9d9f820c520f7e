// The operations for the operator's commands, called over the local socket of a running server or in the command's own process.

import { createImportOperations } from '../intake/operations.ts';
import { listUnrecordedCollections } from '../market/index/queries/unrecorded-collections.ts';
import { findSchemaState } from '../platform/database/health.ts';
import { readServiceHistory } from '../platform/database/service-history.ts';
import type { Operations } from '../shop/operations.ts';
import { createShopOperations } from '../shop/operations.ts';
import { createSecretOperations } from '../shop/stored-secrets.ts';
import { createDeliveryOperations } from '../shop/webhooks/delivery-operations.ts';
import type { ServiceContext } from './context.ts';
import { listDatabases } from './databases.ts';
import { removeSample } from './sample.ts';
import type { Workers } from './working.ts';

/** How many entries of the history an operation returns by default. */
const HISTORY_LENGTH = 50;

export function createOperations(context: ServiceContext, workers: Pick<Workers, 'nudge' | 'tasks'>): Operations {
  return {
    ...createShopOperations(context),
    ...createDeliveryOperations(context, workers.nudge),
    ...createSecretOperations(context),
    ...workers.tasks.operations,
    ...createImportOperations(context),
    'history.read': ({ limit }) => readServiceHistory(context, typeof limit === 'number' ? limit : HISTORY_LENGTH),
    'collections.unrecorded': () => listUnrecordedCollections(context.indexer),
    'databases.writes': async () =>
      Object.fromEntries(listDatabases(context).map(({ schema, writes }) => [schema, writes.failure])),
    'databases.schemas': async () => ({
      main: await findSchemaState(context.main, 'main'),
      indexer: await findSchemaState(context.indexer, 'indexer'),
    }),
    'sample.remove': async () => ({ collections: await removeSample(context) }),
  };
}
