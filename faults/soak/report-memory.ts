// Loaded into a measured process with `--import`. At each SIGUSR2 it collects garbage and writes the memory in use as one line.

import v8 from 'node:v8';
import vm from 'node:vm';

/** The line begins with this text. The result of `process.memoryUsage()` follows as JSON. */
export const MEMORY_LINE = 'memory after collection: ';

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  // Buffers that the first collection finds are freed in the background. The second collection waits for that.
  collect();
  collect();
  process.stderr.write(`${MEMORY_LINE}${JSON.stringify(process.memoryUsage())}\n`);
});
