// While the service shuts down, each response closes its connection. Clients and balancers then open their next connection to another node.

import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import { ServerResponse } from 'node:http';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** Returns a class of responses that send `Connection: close` while the service drains. */
export function createResponseClass(isDraining: () => boolean): typeof ServerResponse {
  return class<Request extends IncomingMessage> extends ServerResponse<Request> {
    // Node calls `writeHead` for every response, even if the program does not.
    override writeHead(statusCode: number, messageOrHeaders?: string | Headers, headers?: Headers): this {
      if (isDraining()) this.setHeader('connection', 'close');
      return typeof messageOrHeaders === 'string'
        ? super.writeHead(statusCode, messageOrHeaders, headers)
        : super.writeHead(statusCode, messageOrHeaders);
    }
  };
}
