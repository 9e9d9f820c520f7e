// `mercat shops`: the shops of the store interface.

import { parseArgs } from 'node:util';
import { OperatorError } from '../core/errors.ts';
import type { Command } from './command.ts';
import { parseUsage } from './command.ts';
import { callOperator } from './connect-operator.ts';

const HELP = `Usage: mercat shops create NAME [--json]
       mercat shops list [--json]

Shops are whom products, stock, keys and webhooks belong to. Names are unique.

  --json   print {"id", "name"}, or a list of them, as one JSON value
`;

type Shop = { id: string; name: string };

export const shopsCommand: Command = {
  name: 'shops',
  summary: 'create and list shops',
  help: HELP,
  run: async (args, { stdout }) => {
    const { values, positionals } = parseUsage(shopsCommand, () =>
      parseArgs({ args, options: { json: { type: 'boolean' } }, allowPositionals: true }),
    );
    const [action, name, ...rest] = positionals;
    if (action === 'create' && name !== undefined && rest.length === 0) {
      const shop = (await callOperator('shops.create', { name })) as Shop;
      stdout.write(values.json ? `${JSON.stringify(shop)}\n` : `shop ${shop.name} is ${shop.id}\n`);
      return 0;
    }
    if (action === 'list' && name === undefined) {
      const shops = (await callOperator('shops.list', {})) as Shop[];
      const lines = shops.map((shop) => `${shop.id}  ${shop.name}\n`).join('');
      stdout.write(values.json ? `${JSON.stringify(shops)}\n` : lines || 'there are no shops yet\n');
      return 0;
    }
    throw new OperatorError('say shops create NAME or shops list; see mercat shops --help', { exitCode: 2 });
  },
};
