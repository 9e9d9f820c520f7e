// Stores the compiled code of this process, so that the next process starts faster (bin/mercat.mjs).

import { flushCompileCache } from 'node:module';

/**
 * A long-running process must call this function after its start. Otherwise Node stores the code while the process ends, and no deadline
 * limits the time of a store. The first store after an installation takes long, because it writes hundreds of files.
 */
export function saveCompiledCode(): void {
  flushCompileCache();
}
