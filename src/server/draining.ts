// While the service shuts down, each response closes its connection, so that clients and balancers open their next connection to
// another node.

import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import { ServerResponse } from 'node:http';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** Returns the class of responses that have `Connection: close` when their headers are written while the service drains. */
export function createResponseClass(isDraining: () => boolean): typeof ServerResponse {
  return class<Request extends IncomingMessage> extends ServerResponse<Request> {
    // Node calls `writeHead` for every response, even when the program writes no headers itself.
    override writeHead(statusCode: number, messageOrHeaders?: string | Headers, headers?: Headers): this {
      if (isDraining()) this.setHeader('connection', 'close');
      return typeof messageOrHeaders === 'string'
        ? super.writeHead(statusCode, messageOrHeaders, headers)
        : super.writeHead(statusCode, messageOrHeaders);
    }
  };
}
