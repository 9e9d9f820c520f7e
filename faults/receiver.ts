// A receiver of webhooks that stores every delivery before it acknowledges the delivery.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Delivery = { webhookId: string; type: string; sequence: number; data: Record<string, unknown> };

export type Receiver = { url: string; deliveries: readonly Delivery[]; close(): void };

export async function startDeliveryReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const server = http.createServer((request, response) => {
    void text(request).then(
      (body) => {
        const event = JSON.parse(body) as Omit<Delivery, 'webhookId'>;
        deliveries.push({ ...event, webhookId: String(request.headers['webhook-id']) });
        response.writeHead(204).end();
      },
      // The sender disconnected before the end of the body. It will send the delivery again.
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, deliveries, close };
}
