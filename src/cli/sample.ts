// `mercat sample`: the sample marketplace that `mercat serve` loads into an empty embedded database.

import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { callService } from './connect.ts';

export const defineSample: DefineCommand = (sample, io) => {
  sample.description('The sample marketplace, which mercat serve loads into an embedded database that is empty.');
  sample
    .command('remove')
    .description(
      'Remove the collections of the sample marketplace, with their orders, listings, sales, tokens and figures, also those that were imported ' +
        'into these collections since. All other data stays.',
    )
    .option('--json', JSON_OPTION)
    .action((options) => removeSample(options, io));
};

async function removeSample({ json }: { json?: true }, { stdout, signal }: CommandIo): Promise<void> {
  const removed = (await callService(signal, 'sample.remove', {})) as { collections: number };
  if (json) stdout.write(`${JSON.stringify(removed)}\n`);
  else
    stdout.write(
      removed.collections > 0
        ? `the sample marketplace is removed: ${removed.collections} collections\n`
        : 'there is no sample marketplace here\n',
    );
}
