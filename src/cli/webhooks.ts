// `mercat webhooks`: the state of the store's webhooks and their deliveries, and making deliveries due again.

import { OperatorError } from '../platform/core/errors.ts';
import type { WebhookStatus } from '../shop/webhooks/delivery-operations.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { callService, readService } from './connect.ts';
import { formatTable } from './output.ts';

type Listed = {
  id: string;
  url: string;
  type: string;
  state: string;
  attempts: number;
  lastError: string | null;
  nextAttemptAt: string | null;
};
type Retried = { due: string[]; skipped: string[]; hasMore: boolean };
type Options = { json?: true; shop?: string };

export const defineWebhooks: DefineCommand = (webhooks, io) => {
  webhooks.description("The store's webhooks and their deliveries.");

  webhooks
    .command('status')
    .description(
      'List the webhooks with their state, since when they have been in it, and how many deliveries wait. Disabled and failing webhooks come first.',
    )
    .option('--shop <name>', 'only the webhooks of this shop')
    .option('--json', JSON_OPTION)
    .action((options) => listWebhooks(options, io));

  webhooks
    .command('list')
    .description('List the newest 200 deliveries.')
    .option('--shop <name>', 'only the deliveries of this shop')
    .option('--state <state>', 'only deliveries in this state: pending, delivered or dead')
    .option('--json', JSON_OPTION)
    .action((options) => listDeliveries(options, io));

  webhooks
    .command('retry')
    .description(
      'Make deliveries due now, and begin their schedule of retries anew. Deliveries to a disabled webhook are skipped: its shop has to enable the webhook first.',
    )
    .argument('[ids...]', 'the deliveries')
    .option('--dead', 'all dead deliveries: deliveries that failed at every attempt of their schedule')
    .option('--shop <name>', 'with --dead, only the deliveries of this shop')
    .option('--json', 'print {"due": [ids], "skipped": [ids], "hasMore"} as one JSON value')
    .addHelpText('after', '\nExit code 1: a delivery was skipped.')
    .action((ids, options) => retryDeliveries(ids, options, io));
};

async function listWebhooks({ shop, json }: Options, { stdout, signal }: CommandIo): Promise<void> {
  const webhooks = (await readService(signal, 'webhooks.status', { shop })) as WebhookStatus[];
  const heads = ['id', 'shop', 'state', 'since', 'pending', 'oldest due', 'dead', 'url', 'reason'];
  const rows = webhooks.map(({ id, shop: owner, state, since, pending, oldestDueAt, dead, url, reason }) => [
    id,
    owner,
    state,
    since,
    pending,
    oldestDueAt,
    dead,
    url,
    reason,
  ]);
  if (json) stdout.write(`${JSON.stringify(webhooks)}\n`);
  else stdout.write(rows.length > 0 ? formatTable(heads, rows, stdout) : 'there are no webhooks\n');
}

async function listDeliveries({ shop, state, json }: Options & { state?: string }, { stdout, signal }: CommandIo) {
  const deliveries = (await readService(signal, 'webhooks.list', { shop, state })) as Listed[];
  const heads = ['id', 'state', 'attempts', 'event', 'url', 'next attempt', 'last error'];
  const rows = deliveries.map(({ id, state: current, attempts, type, url, nextAttemptAt, lastError }) => [
    id,
    current,
    attempts,
    type,
    url,
    nextAttemptAt,
    lastError,
  ]);
  if (json) stdout.write(`${JSON.stringify(deliveries)}\n`);
  else stdout.write(rows.length > 0 ? formatTable(heads, rows, stdout) : 'there are no deliveries\n');
}

async function retryDeliveries(ids: string[], { dead, shop, json }: Options & { dead?: true }, io: CommandIo) {
  if (ids.length > 0 === (dead ?? false) || (shop !== undefined && !dead)) {
    throw new OperatorError('name deliveries or use --dead, with or without --shop; see mercat webhooks retry --help', {
      exitCode: 2,
    });
  }
  const result = (await callService(io.signal, 'webhooks.retry', dead ? { dead, shop } : { ids })) as Retried;
  io.stdout.write(json ? `${JSON.stringify(result)}\n` : describeRetried(result));
  if (result.skipped.length > 0) io.exitCode = 1;
}

function describeRetried({ due, skipped, hasMore }: Retried): string {
  const lines = [
    `${due.length} ${due.length === 1 ? 'delivery is' : 'deliveries are'} due now`,
    ...(hasMore
      ? ['there may be more dead deliveries: repeat the command when the deliveries that are due now have been sent']
      : []),
    ...skipped.map((id) => `${id} is skipped: there is no such delivery, or its webhook is disabled`),
  ];
  return `${lines.join('\n')}\n`;
}
