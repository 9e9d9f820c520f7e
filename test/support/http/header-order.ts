// Sends requests with an API key and keeps the headers of the responses in their order. Uses node:http, because the `Headers`
// of `fetch` are sorted.

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';

/** `body` is in base64. */
type OrderedResponse = { status: number | undefined; headers: string[]; body: string };

/** Sends a request without a body. The response has the headers in their order, except for `Date`. */
export async function sendWithKey(
  url: string,
  secret: string,
  { method = 'GET', coding = 'identity' } = {},
): Promise<OrderedResponse> {
  const headers = { authorization: `Bearer ${secret}`, 'accept-encoding': coding, 'x-request-id': 'header-order' };
  const request = http.request(url, { method, headers }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray()).toString('base64');
  const pairs = response.rawHeaders.flatMap((name, index, all) =>
    index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : [],
  );
  return { status: response.statusCode, headers: pairs.filter((pair) => !/^date:/i.test(pair)), body };
}
