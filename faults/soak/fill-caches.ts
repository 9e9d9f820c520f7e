// Fills the caches of the service up to their limits. A cache that fills while memory is sampled would look like a leak.

import type { Answer, Client, Sent } from '../client.ts';
import { times } from '../load.ts';
import { toNdjson } from '../records.ts';

/** More products than the caches of the store can hold. The long image URL of each product makes the caches full earlier. */
const PRODUCTS = 9_000;
const PRODUCTS_PER_IMPORT = 1_000;
const IMAGE_LENGTH = 2_000;
const PAGE_LIMIT = 100;
const READERS = 8;

/**
 * Imports products, reads all products in pages of the list, and reads each product alone. The response for a single product is not checked:
 * the list also has products that the load (`faults/load.ts`) creates, and the load may delete such a product before it is read alone.
 */
export async function fillCaches(client: Client): Promise<void> {
  for (let first = 0; first < PRODUCTS; first += PRODUCTS_PER_IMPORT) {
    const products = times(PRODUCTS_PER_IMPORT, (index) => toProduct(first + index));
    await expectOk(client, { method: 'POST', path: '/intake/v1/records', body: toNdjson(products) });
  }
  const ids = await readPages(client);
  if (ids.length < PRODUCTS) throw new Error(`only ${ids.length} of ${PRODUCTS} products can be read`);
  await Promise.all(
    times(READERS, async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop())
        await client.send({ method: 'GET', path: `/api/v1/products/${id}` });
    }),
  );
}

function toProduct(number: number): object {
  const image = `https://pictures.example/${number}/`.padEnd(IMAGE_LENGTH, 'x');
  return { kind: 'product', shop: 'shop', name: `Filler ${number}`, price: '1.00', image, inventory: 0 };
}

/** The ids of all products. */
async function readPages(client: Client): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const from = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { text } = await expectOk(client, { method: 'GET', path: `/api/v1/products?limit=${PAGE_LIMIT}${from}` });
    const page = JSON.parse(text) as { data: { id: string }[]; pagination: { nextCursor: string | null } };
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.pagination.nextCursor;
  }
  return ids;
}

async function expectOk(client: Client, sent: Sent): Promise<Answer> {
  const answer = await client.send(sent);
  if (answer.status === 200) return answer;
  throw new Error(`${sent.method} ${sent.path}: ${answer.status} ${answer.text.slice(0, 200)}`);
}
