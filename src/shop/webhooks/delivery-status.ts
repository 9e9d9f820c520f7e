// Makes the section `webhooks` of the service's status, which says how much work the webhook worker has. The section has numbers only,
// because it is public.

import type { StatusProvider } from '../../platform/core/status.ts';
import type { Database } from '../../platform/database/port.ts';
import { findDeliveryQueue } from '../queries/delivery-queue.ts';

const TIMEOUT_MS = 2_000;

export function createDeliveryStatus(main: Database): StatusProvider {
  return { section: 'webhooks', read: () => findDeliveryQueue(main.within(TIMEOUT_MS)) };
}
