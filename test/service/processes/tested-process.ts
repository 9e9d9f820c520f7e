// A serving process for tests of the supervisor. The first argument is what the process does after it has joined its supervisor:
// - `serves`: it runs until it is stopped.
// - `crashes`: it starts, and ends with exit code 7.
// - `crashes-once`: at its first start it ends with exit code 7. At each later start it serves.
// - `hangs`: it starts, and then blocks its event loop.
// - `fails`: it reports why it cannot start, and ends.
// - `waits`: the first process serves. Each other process creates the file that the second argument names, and never starts.

import { existsSync, writeFileSync } from 'node:fs';
import { Membership } from '../../../src/service/processes/membership.ts';

const stopped = Promise.withResolvers<number>();
process.on('disconnect', () => process.exit());
const membership = await Membership.join(
  {
    send: (message) => void process.send?.(message, undefined, undefined, () => undefined),
    onMessage: (receive) => void process.on('message', receive),
  },
  stopped.resolve,
);
const [, , mode, file = ''] = process.argv;
if (mode === 'fails') {
  await membership.reportFailed({ message: 'the port is taken', exitCode: 2 });
  process.exit(1);
}
if (mode === 'waits' && !membership.isFirst) {
  writeFileSync(file, '');
  await stopped.promise;
  process.exit(0);
}
await membership.reportStarted({ url: '', hasConsole: false });
if (mode === 'crashes') process.exit(7);
const ownFile = `${file}-${membership.start.number}`;
if (mode === 'crashes-once' && !existsSync(ownFile)) {
  writeFileSync(ownFile, '');
  process.exit(7);
}
if (mode === 'hangs') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
await stopped.promise;
process.exit(0);
