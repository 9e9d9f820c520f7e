// A serving process for tests of the supervisor: it joins, reports that it serves, and then blocks its thread for ever.

import { Membership } from '../../src/processes/membership.ts';

const membership = await Membership.join(
  {
    send: (message) => void process.send?.(message),
    onMessage: (receive) => void process.on('message', receive),
  },
  () => undefined,
);
await membership.reportStarted({ url: '', hasConsole: false });
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
