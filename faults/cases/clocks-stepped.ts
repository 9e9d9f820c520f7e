// Sets the clock of the service back and forward while the service runs. The clock of the worker is ahead of the clock of the machine all the time.
// On the embedded engine, the clock of the service is also the clock of the database. The clock of PostgreSQL is not changed.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { until } from '../../test/support/until.ts';
import type { Fault } from '../fault.ts';
import { findFaketime } from '../faketime.ts';

/** Successive offsets from the clock of the machine: 10 minutes back, 31 minutes forward, and the right time. */
const OFFSETS = ['-600', '+1860', '+0'];
/** The clock of the worker is this many seconds ahead. */
const WORKER_OFFSET = '+2';
const REQUESTS_BETWEEN = 150;
/**
 * How long the service may take to notice a step. The service reads the clock of its database every ten seconds. The limit is long enough
 * for a slow machine.
 */
const NOTICE_LIMIT_MS = 240_000;

export const fault: Fault = {
  name: 'clocks-stepped',
  promise: 'setting a clock back or forward changes no response, loses no event and delays nothing',
  engines: ['embedded', 'postgresql'],
  needs: ['faketime'],
  run: async ({ engine, start }) => {
    const file = path.join(temporaryDirectory(), 'offset');
    writeFileSync(file, '+0');
    const fake = {
      LD_PRELOAD: findFaketime() ?? '',
      FAKETIME_NO_CACHE: '1',
      // Only the wall clock is changed, because nothing sets a monotonic clock on a real machine either.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
    const platform = await start({
      settings: fake,
      serviceSettings: { FAKETIME_TIMESTAMP_FILE: file },
      workerSettings: { FAKETIME: WORKER_OFFSET },
    });
    const { lines } = platform.service;
    const countSteps = () => lines.filter((line) => line.includes('clock of the primary database was set')).length;
    await platform.whileBroken(async () => {
      for (const [index, offset] of OFFSETS.entries()) {
        writeFileSync(file, offset);
        if (engine === 'embedded') await until(() => countSteps() > index, NOTICE_LIMIT_MS, 'the step was not noticed');
        await platform.load.progress(REQUESTS_BETWEEN);
      }
    });
    return [
      engine === 'embedded'
        ? `set to ${OFFSETS.join(' s, ')} s; the service has noticed ${countSteps()} steps of the clock of its database`
        : `set to ${OFFSETS.join(' s, ')} s in the service, not in PostgreSQL`,
    ];
  },
};
