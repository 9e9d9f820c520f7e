// Stores the compiled code of this process, with which the next process starts faster (bin/mercat.mjs).

import { flushCompileCache } from 'node:module';

/**
 * Called when a long-running process has started. Otherwise Node would store the code while the process ends, when no deadline applies any
 * more. After an installation, the code consists of hundreds of files.
 */
export function saveCompiledCode(): void {
  flushCompileCache();
}
