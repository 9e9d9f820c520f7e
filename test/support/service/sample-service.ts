// A service on the embedded engine with the sample marketplace, for one test file. Loading the sample takes seconds, so the files of one run
// copy a data directory into which it was loaded once. The directory is not kept longer, because the times of the sample end at its loading.

import { cpSync } from 'node:fs';
import path from 'node:path';
import { after, before } from 'node:test';
import type { RateLimits } from '../../../src/platform/http/rate-limit.ts';
import { cleanUp } from '../engines/cleanup.ts';
import { copyDatabase, directoryWithDatabase } from '../engines/embedded-template.ts';
import { storeTemplate } from '../engines/template-cache.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
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
    const all = { DATA_DIR: await directoryWithSample(), ...settings };
    Object.assign(service, await startTestService({ settings: all, sample: true, ...rest }));
  });
  after(async () => {
    await service.close();
    await cleanUp();
  });
  return service;
}

/** Makes a temporary data directory. A run of several files has the sample in its database. A file that runs alone loads the sample when its service starts. */
async function directoryWithSample(): Promise<string> {
  const { TEST_SAMPLE_TEMPLATE: template } = process.env;
  if (!template) return directoryWithDatabase();
  await storeTemplate(template, makeSample);
  const dir = temporaryDirectory();
  cpSync(template, dir, { recursive: true });
  return dir;
}

async function makeSample(dir: string): Promise<void> {
  await copyDatabase(path.join(dir, 'db'), 'migrated');
  const service = await startTestService({ settings: { DATA_DIR: dir }, sample: true });
  await service.close();
}
