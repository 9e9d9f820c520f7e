// Sells a cart: holds its stock, takes the payment, and sells what is held. Asks on the terminal whether the customer has paid.
// Usage: MERCAT_KEY=mercat_live_… node client/examples/checkout.ts BASE_URL CART_ID SKU=QUANTITY…

import { createInterface } from 'node:readline/promises';
import type { StoreClient } from 'mercat-client/store';
import { MercatError, createStoreClient } from 'mercat-client/store';

/** For how long the customer may take to pay. */
const EXPIRES_IN_S = 600;

export type Cart = { id: string; items: { sku: string; quantity: number }[] };
export type Payment = { pay: () => Promise<boolean>; refund: () => Promise<void> };

/** After a crash, call it again with the same cart: the idempotency keys are made of its id, so nothing is reserved or sold twice. */
export async function checkOut(store: StoreClient, { id, items }: Cart, payment: Payment): Promise<string> {
  const wanted = { items, expiresInSeconds: EXPIRES_IN_S, reference: id };
  const held = await orNull('insufficient_stock', store.createReservation(wanted, { idempotencyKey: `${id} reserve` }));
  if (!held) return 'sold out';
  const { id: reservationId } = held.data;
  if (!(await payment.pay())) {
    await store.releaseReservation({ reservationId }, { idempotencyKey: `${id} release` });
    return 'not paid';
  }
  // The stock of an expired reservation may have been sold to others.
  const sold = await orNull(
    'conflict',
    store.consumeReservation({ reservationId }, { idempotencyKey: `${id} consume` }),
  );
  if (sold) return 'sold';
  await payment.refund();
  return 'refunded';
}

/** Null if the call fails with this code. */
async function orNull<T>(code: string, call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof MercatError && error.code === code) return null;
    throw error;
  }
}

if (import.meta.main) {
  const [baseUrl = '', id = '', ...args] = process.argv.slice(2);
  const items = args.map((arg) => ({ sku: arg.replace(/=\d+$/, ''), quantity: Number(/=(\d+)$/.exec(arg)?.[1] ?? 1) }));
  const store = createStoreClient({ baseUrl, apiKey: process.env['MERCAT_KEY'] ?? '' });
  const pay = async () => {
    const terminal = createInterface({ input: process.stdin, output: process.stdout });
    const answer = await terminal.question('Paid? (y/n) ');
    terminal.close();
    return answer === 'y';
  };
  console.log(await checkOut(store, { id, items }, { pay, refund: async () => console.log('Give the money back') }));
}
