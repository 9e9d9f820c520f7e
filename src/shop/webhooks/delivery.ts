// The states and the public ids of deliveries.

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

/**
 * The id of a delivery as callers know it: `dlv_` and 32 hexadecimal digits. For deliveries from before such ids were introduced, it is
 * `dlv_` and the number of the delivery in the database.
 */
const DELIVERY_ID = /^dlv_([1-9]\d{0,17}|[0-9a-f]{32})$/;

export function isDeliveryId(text: string): boolean {
  return DELIVERY_ID.test(text);
}
