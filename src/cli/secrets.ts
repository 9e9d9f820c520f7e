// `mercat secrets`: counts the secrets in the database by the key that encrypts them, encrypts them with another key, or decrypts them.

import type { SecretsReport } from '../shop/stored-secrets.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { callService, readService } from './connect.ts';
import { formatTable } from './output.ts';

type Options = { json?: true };

const KINDS: Readonly<Record<SecretsReport['stored'][number]['kind'], string>> = {
  service: 'secrets of the service',
  webhook: 'secrets of webhooks',
  response: 'responses that contain a secret, stored for one day to answer a repeated idempotency key',
};

export const defineSecrets: DefineCommand = (secrets, io) => {
  secrets.description(
    'Lists, encrypts or decrypts the secrets that are stored in the database. The service encrypts new secrets with SECRETS_KEY by itself. ' +
      'If a server is running, the commands use the SECRETS_KEY of the server. They never print a secret.',
  );

  secrets
    .command('list')
    .description('Count the stored secrets by the key that encrypts them.')
    .option('--json', JSON_OPTION)
    .action((options) => listSecrets(options, io));

  secrets
    .command('encrypt')
    .description(
      'Encrypt all stored secrets with the first key of SECRETS_KEY. After an interruption, run the command again.',
    )
    .option('--json', JSON_OPTION)
    .action((options) => storeSecrets('encrypt', options, io));

  secrets
    .command('decrypt')
    .description('Store all secrets in clear, so that the service can be started without SECRETS_KEY.')
    .option('--json', JSON_OPTION)
    .action((options) => storeSecrets('decrypt', options, io));
};

async function listSecrets({ json }: Options, io: CommandIo): Promise<void> {
  const report = (await readService(io.signal, 'secrets.list', {})) as SecretsReport;
  io.stdout.write(json ? `${JSON.stringify(report)}\n` : describeReport(report, io));
}

function describeReport({ currentKeyId, stored }: SecretsReport, { stdout }: CommandIo): string {
  const rows = stored.map(({ kind, keyId, count, readable }) => [
    KINDS[kind],
    keyId === null ? 'in clear' : `key ${keyId}${readable ? '' : ', which is not in SECRETS_KEY'}`,
    count,
  ]);
  const current =
    currentKeyId === null
      ? 'SECRETS_KEY is empty: new secrets are stored in clear'
      : `new secrets are encrypted with key ${currentKeyId}`;
  return `${rows.length > 0 ? formatTable(['what', 'stored', 'number'], rows, stdout) : 'no secrets are stored\n'}${current}\n`;
}

async function storeSecrets(
  action: 'encrypt' | 'decrypt',
  { json }: Options,
  { stdout, signal }: CommandIo,
): Promise<void> {
  const result = (await callService(signal, `secrets.${action}`, {})) as { changed: number };
  stdout.write(json ? `${JSON.stringify(result)}\n` : `rows ${action}ed: ${result.changed}\n`);
}
