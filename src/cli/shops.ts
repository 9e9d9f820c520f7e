// `mercat shops` creates and lists the shops of the store API.

import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { callService, readService } from './connect.ts';
import { formatTable, printable } from './output.ts';
import { parseShopName } from '../shop/shop-name.ts';

type Shop = { id: string; name: string };
type Options = { json?: true };

export const defineShops: DefineCommand = (shops, io) => {
  shops.description('A shop owns products, stock, keys and webhooks of the store API. The names of shops are unique.');

  shops
    .command('create')
    .description('Create a shop.')
    .argument('<name>', 'the name of the shop')
    .option('--json', JSON_OPTION)
    .addHelpText('after', '\nExample:\n  mercat shops create "Corner shop"')
    .action((name, options) => createShop(name, options, io));

  shops
    .command('list')
    .description('List all shops.')
    .option('--json', JSON_OPTION)
    .action((options) => listShops(options, io));
};

async function createShop(given: string, { json }: Options, { stdout, stderr, signal }: CommandIo): Promise<void> {
  // A name that is refused must not create a database.
  const name = parseShopName(given);
  const onCreate = (line: string) => stderr.write(line);
  const shop = (await callService(signal, 'shops.create', { name }, { onCreate })) as Shop;
  stdout.write(
    json ? `${JSON.stringify(shop)}\n` : `created the shop ${printable(shop.name)} with the id ${shop.id}\n`,
  );
}

async function listShops({ json }: Options, { stdout, signal }: CommandIo): Promise<void> {
  const shops = (await readService(signal, 'shops.list', {})) as Shop[];
  const rows = shops.map(({ id, name }) => [id, name]);
  if (json) stdout.write(`${JSON.stringify(shops)}\n`);
  else stdout.write(rows.length > 0 ? formatTable(['id', 'name'], rows, stdout) : 'there are no shops\n');
}
