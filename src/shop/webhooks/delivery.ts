// The states and the public ids of deliveries.

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

const ID_PREFIX = 'dlv_';

/** The public id of the delivery with this number in the database. */
export function toDeliveryId(number: string): string {
  return ID_PREFIX + number;
}

/** The database number in a delivery id; null when the text is not a delivery id. */
export function parseDeliveryId(text: string): string | null {
  return /^dlv_[1-9]\d{0,17}$/.test(text) ? text.slice(ID_PREFIX.length) : null;
}
