// Stores the compiled code of this process, so that the next process starts faster (bin/mercat.mjs).

import { flushCompileCache } from 'node:module';

/**
 * Must be called when a long-running process has started. Otherwise Node would store the code at the end of the process, where no deadline
 * limits the time. After an installation this takes long, because hundreds of files have to be stored.
 */
export function saveCompiledCode(): void {
  flushCompileCache();
}
