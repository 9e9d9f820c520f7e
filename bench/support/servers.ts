// The servers that the benchmarks start as separate processes. `service` is the real service without workers. `working` is the real service
// with workers. Neither has rate limits for the marketplace. `bare` is a node:http server that responds to every request with the status, headers and body
// of a given file, in which the body is base64.
// These three print their URL when they listen. `receiver` receives webhooks. It sends its URL to the parent process, and a second message when it
// has responded to the given number of requests.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readConfig } from '../../src/service/config.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { startService } from '../../src/service/service.ts';

const [role, file] = process.argv.slice(2);

if (role === 'service' || role === 'working') {
  const limits = {
    list: Number.MAX_SAFE_INTEGER,
    single: Number.MAX_SAFE_INTEGER,
    message: Number.MAX_SAFE_INTEGER,
  };
  const workers = role === 'working';
  // A benchmark with workers makes sources fail on purpose, so warnings are not logged.
  const log = createLog(workers ? 'error' : 'warn');
  const service = await startService({ config: readConfig(), log, limits, workers });
  process.once('SIGTERM', () => void service.close());
  process.stdout.write(`${service.url}\n`);
} else if (role === 'receiver') {
  let left = Number(file);
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(204).end();
      left -= 1;
      if (left === 0) process.send?.('all');
    });
  });
  process.once('SIGTERM', () => process.exit(0));
  server.listen(0, '127.0.0.1', () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });
} else {
  const given = JSON.parse(readFileSync(file ?? '', 'utf8')) as { status: number; headers: string[]; body: string };
  const { status, headers } = given;
  const bytes = Buffer.from(given.body, 'base64');
  const server = createServer((_request, response) => response.writeHead(status, headers).end(bytes));
  server.keepAliveTimeout = 65_000;
  process.once('SIGTERM', () => server.close(() => process.exit(0)));
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
}
