// A service on the embedded engine with the sample marketplace, for one test file.

import { after, before } from 'node:test';
import type { RateLimits } from '../../../src/platform/http/rate-limit.ts';
import { cleanUp } from '../engines/cleanup.ts';
import { directoryWithDatabase } from '../engines/embedded-template.ts';
import type { TestService } from './service.ts';
import { startTestService } from './service.ts';

/**
 * Starts the service before the tests of the calling file or suite, and closes it after them. Only later hooks and tests may use
 * it.
 */
export function useSampleService(
  options: { settings?: Record<string, string>; limits?: RateLimits } = {},
): TestService {
  const service = {} as TestService;
  before(async () => {
    const { settings, ...rest } = options;
    const all = { DATA_DIR: await directoryWithDatabase(), ...settings };
    Object.assign(service, await startTestService({ settings: all, sample: true, ...rest }));
  });
  after(async () => {
    await service.close();
    await cleanUp();
  });
  return service;
}
