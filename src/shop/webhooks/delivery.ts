// The states and the public ids of deliveries.

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The id of a delivery for callers: `dlv_` and either 32 hexadecimal digits or the number that the delivery has in the database. */
const DELIVERY_ID = /^dlv_([1-9]\d{0,17}|[0-9a-f]{32})$/;

export function isDeliveryId(text: string): boolean {
  return DELIVERY_ID.test(text);
}
