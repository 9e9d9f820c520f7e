// Receives webhooks: WEBHOOK_SECRET=whsec_… node client/examples/webhook-receiver.ts [PORT]

import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { WebhookEvent } from 'mercat-client/webhooks';
import { MercatError, verifyWebhook } from 'mercat-client/webhooks';

/** Calls `onEvent` once for each event, although deliveries may be repeated. */
export function createReceiver(secret: string, onEvent: (event: WebhookEvent) => void): Server {
  // The processed ids are lost when the process ends. A receiver in production keeps them in its database.
  const processed = new Set<string>();
  return createServer((request, response) => {
    const receive = async () => {
      const { id, event } = await verifyWebhook({ secret, headers: request.headers, body: await text(request) });
      if (!processed.has(id)) onEvent(event);
      processed.add(id);
    };
    receive().then(
      () => response.writeHead(204).end(),
      (error: unknown) => response.writeHead(error instanceof MercatError ? 400 : 500).end(),
    );
  });
}

if (import.meta.main) {
  const [port = '9000'] = process.argv.slice(2);
  createReceiver(process.env['WEBHOOK_SECRET'] ?? '', (event) => {
    console.log(event.type, event.sequence, event.type === 'inventory.low' ? event.data.inventory : '');
  }).listen(Number(port), '127.0.0.1');
}
