// `mercat export`: writes the products of a shop to standard output, so that `mercat import` stores the same products again.

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option } from '@commander-js/extra-typings';
import type { ProductExport } from '../../shop/operations.ts';
import type { CommandIo, DefineCommand } from '../command.ts';
import { connect } from '../connect.ts';

const FORMATS = ['ndjson', 'shopify-products'] as const;
type Options = { shop: string; format: (typeof FORMATS)[number] };

export const defineExport: DefineCommand = (command, io) => {
  command
    .description('Write data of the service to standard output, in a format that mercat import reads.')
    .command('products')
    .description(
      'Write all products of a shop, also drafts and archived products, oldest first. A product that changes meanwhile may be written as it was ' +
        'or as it is.',
    )
    .requiredOption('--shop <shop>', 'the name or the id of the shop')
    .addOption(
      new Option(
        '--format <format>',
        'ndjson: one record in each line; shopify-products: CSV with the columns of Shopify',
      )
        .choices(FORMATS)
        .default('ndjson' as const),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  mercat export products --shop "Corner shop" > products.ndjson\n' +
        '  mercat export products --shop "Corner shop" --format shopify-products > products.csv',
    )
    .action((options) => exportProducts(options, io));
};

async function exportProducts({ shop, format }: Options, { stdout, signal }: CommandIo): Promise<void> {
  await using service = await connect(signal, { migrations: 'require' });
  const groups = async function* (): AsyncGenerator<ProductExport['groups'][number]> {
    for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
      const page = (await service.call('products.export', { shop, after })) as ProductExport;
      yield* page.groups;
      after = page.next;
    }
  };
  const { toNdjsonLines, toShopifyCsv } = await import('../../shop/products/product-files.ts');
  const text = format === 'ndjson' ? toNdjsonLines(groups(), shop) : toShopifyCsv(groups());
  let failure: unknown = null;
  const parts = async function* (): AsyncGenerator<string> {
    try {
      yield* text;
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  await pipeline(Readable.from(parts()), stdout, { end: false }).catch((error: unknown) => {
    // The program that reads the output, such as `head`, needs no more.
    const isUnread = failure === null && error instanceof Error && 'code' in error && error.code === 'EPIPE';
    if (!isUnread) throw error;
  });
}
