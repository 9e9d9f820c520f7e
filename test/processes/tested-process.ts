// A serving process for tests of the supervisor. The argument says what it does after it has joined: `serves` until it is stopped, `crashes` after its
// start, with exit code 7, `hangs` after its start, or `fails`, and reports why it cannot start. With `waits`, only the first process serves, and the others
// create the file that the next argument names. With `crashes-once`, each process crashes only at its first start.

import { existsSync, writeFileSync } from 'node:fs';
import { Membership } from '../../src/processes/membership.ts';

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
