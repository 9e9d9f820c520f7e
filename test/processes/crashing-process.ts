// A serving process for tests of the supervisor: it joins, reports that it serves, and then ends with exit code 7. With the argument `fails`, it reports instead
// why it cannot start.

import { Membership } from '../../src/processes/membership.ts';

const membership = await Membership.join(
  {
    send: (message) => void process.send?.(message),
    onMessage: (receive) => void process.on('message', receive),
  },
  () => undefined,
);
if (process.argv[2] === 'fails') {
  await membership.reportFailed({ message: 'the port is taken', exitCode: 2 });
  process.exit(1);
}
await membership.reportStarted({ url: '', hasConsole: false });
process.exit(7);
