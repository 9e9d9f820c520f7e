// Lists the commands of the program. The module of a command is loaded when the command is run or its help is printed.

import type { DefineCommand } from './command.ts';

export type CommandEntry = {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  load: () => Promise<DefineCommand>;
};

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'serve the APIs and run the workers',
    load: async () => (await import('./serve.ts')).defineServe,
  },
  {
    name: 'work',
    summary: 'run the workers without the APIs',
    load: async () => (await import('./work.ts')).defineWork,
  },
  {
    name: 'import',
    summary: 'load records from files',
    load: async () => (await import('./import/import.ts')).defineImport,
  },
  {
    name: 'export',
    summary: 'write the products of a shop to a file',
    load: async () => (await import('./export/export.ts')).defineExport,
  },
  {
    name: 'imports',
    summary: 'list the imports, and take one back',
    load: async () => (await import('./imports.ts')).defineImports,
  },
  {
    name: 'shops',
    summary: 'create and list shops',
    load: async () => (await import('./shops.ts')).defineShops,
  },
  {
    name: 'keys',
    summary: 'create, list, rotate and revoke API keys',
    load: async () => (await import('./keys.ts')).defineKeys,
  },
  {
    name: 'secrets',
    summary: 'encrypt the secrets in the database, and replace their key',
    load: async () => (await import('./secrets.ts')).defineSecrets,
  },
  {
    name: 'webhooks',
    summary: 'list webhook deliveries and retry them',
    load: async () => (await import('./webhooks.ts')).defineWebhooks,
  },
  {
    name: 'collections',
    summary: 'add, list and remove the collections that are followed',
    load: async () => (await import('./collections.ts')).defineCollections,
  },
  {
    name: 'sample',
    summary: 'remove the sample marketplace',
    load: async () => (await import('./sample.ts')).defineSample,
  },
  {
    name: 'sync',
    summary: 'run a task, or all tasks of a source, now',
    load: async () => (await import('./sync.ts')).defineSync,
  },
  {
    name: 'history',
    summary: 'show the starts, migrations and changed settings of the service',
    load: async () => (await import('./history.ts')).defineHistory,
  },
  {
    name: 'status',
    summary: 'show the state of databases, chains, sources and tasks',
    load: async () => (await import('./status.ts')).defineStatus,
  },
  {
    name: 'doctor',
    summary: 'check the installation and say how to correct each problem',
    load: async () => (await import('./doctor/doctor.ts')).defineDoctor,
  },
  {
    name: 'devnet',
    summary: 'run local chains with trading on them, and a service that follows them',
    load: async () => (await import('./devnet.ts')).defineDevnet,
  },
  {
    name: 'audit',
    summary: 'compare stored orders and tokens with their chains, or with a replay of the log',
    load: async () => (await import('./audit.ts')).defineAudit,
  },
  {
    name: 'migrate',
    summary: 'bring the database schema up to date',
    load: async () => (await import('./migrate.ts')).defineMigrate,
  },
  {
    name: 'backup',
    summary: 'write all data to one file',
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  {
    name: 'restore',
    summary: 'write the data of a backup into the databases',
    load: async () => (await import('./restore.ts')).defineRestore,
  },
];
