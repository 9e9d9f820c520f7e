// Imports many tokens, so that a backup and a restore take long enough to be killed before they end.

import { until } from '../test/support/until.ts';
import { COMMAND_LIMIT_MS } from './command.ts';
import { times } from './load.ts';
import type { Platform } from './platform.ts';
import { toNdjson, toToken } from './records.ts';

const IMPORTS = 5;
const TOKENS_PER_IMPORT = 1_000;
/** The first token id. It is above the ids of all tokens that the load writes. */
const FIRST_ID = 10_000_000;

/** Imports the tokens while the load runs. The ledger of the load does not contain these tokens, so the checks after the fault do not read them. */
export async function importBulk(platform: Platform): Promise<void> {
  const client = platform.newClient();
  for (let number = 0; number < IMPORTS; number += 1) {
    const firstId = FIRST_ID + number * TOKENS_PER_IMPORT;
    const tokens = times(TOKENS_PER_IMPORT, (index) => toToken(String(firstId + index), `Bulk ${firstId + index}`));
    const sent = { method: 'POST', path: '/intake/v1/records', body: toNdjson(tokens) };
    const isImported = async () => (await client.send(sent)).text.includes('"event":"done"');
    await until(isImported, COMMAND_LIMIT_MS, 'the tokens cannot be imported');
  }
}
