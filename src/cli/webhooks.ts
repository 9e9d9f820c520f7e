// `mercat webhooks`: what became of deliveries, and sending them again.

import { parseArgs } from 'node:util';
import { OperatorError } from '../core/errors.ts';
import type { Command } from './command.ts';
import { parseUsage } from './command.ts';
import { callOperator } from './connect-operator.ts';

const HELP = `Usage: mercat webhooks list [--shop NAME] [--state pending|delivered|dead] [--json]
       mercat webhooks retry ID… [--json]
       mercat webhooks retry --dead [--shop NAME] [--json]

Lists the newest 200 deliveries of webhooks, or makes deliveries due again with a fresh schedule. Deliveries to disabled
webhooks are left alone: their shop enables them first.

  --shop NAME    only this shop's
  --state STATE  only deliveries in this state
  --dead         every delivery that was given up
  --json         print a list of deliveries, or {"due": [ids], "skipped": [ids], "hasMore"}, as one JSON value
`;

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
type Values = { shop?: string; state?: string; dead?: boolean };
type Shown = { result: unknown; words: string; failed?: boolean };

export const webhooksCommand: Command = {
  name: 'webhooks',
  summary: 'list deliveries of webhooks, send them again',
  help: HELP,
  run: async (args, { stdout }) => {
    const { values, positionals } = parseUsage(webhooksCommand, () =>
      parseArgs({
        args,
        allowPositionals: true,
        options: {
          shop: { type: 'string' },
          state: { type: 'string' },
          dead: { type: 'boolean' },
          json: { type: 'boolean' },
        },
      }),
    );
    const [action, ...ids] = positionals;
    const { result, words, failed } = await run(action, ids, values);
    stdout.write(values.json ? `${JSON.stringify(result)}\n` : words);
    return failed ? 1 : 0;
  },
};

function run(action: string | undefined, ids: string[], values: Values): Promise<Shown> {
  if (action === 'list' && ids.length === 0 && !values.dead) return list(values);
  if (action === 'retry' && values.state === undefined) {
    if (ids.length > 0 && !values.dead && values.shop === undefined) return retry({ ids });
    if (ids.length === 0 && values.dead) return retry({ dead: true, shop: values.shop });
  }
  throw new OperatorError('say webhooks list, retry ID… or retry --dead; see mercat webhooks --help', { exitCode: 2 });
}

async function list({ shop, state }: Values): Promise<Shown> {
  const deliveries = (await callOperator('webhooks.list', { shop, state })) as Listed[];
  return { result: deliveries, words: deliveries.map(toLine).join('') || 'there are no deliveries\n' };
}

/** Fails when something that was named could not be retried. */
async function retry(input: Record<string, unknown>): Promise<Shown> {
  const result = (await callOperator('webhooks.retry', input)) as Retried;
  const { due, skipped, hasMore } = result;
  const lines = [
    `${due.length} ${due.length === 1 ? 'delivery is' : 'deliveries are'} due now`,
    ...(hasMore ? ['there are more: say it again when these are through'] : []),
    ...skipped.map((id) => `${id} is left alone: there is no such delivery, or its webhook is disabled`),
  ];
  return { result, words: `${lines.join('\n')}\n`, failed: skipped.length > 0 };
}

function toLine(delivery: Listed): string {
  const { id, state, attempts, type, url, lastError, nextAttemptAt } = delivery;
  const next = nextAttemptAt === null ? '' : `  next ${nextAttemptAt}`;
  return `${id}  ${state}  ${attempts} tries  ${type}  ${url}${next}${lastError === null ? '' : `  ${lastError}`}\n`;
}
