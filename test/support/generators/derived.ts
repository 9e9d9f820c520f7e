// Renders the committed files that are derived from the program: the settings page and the OpenAPI documents. They
// are committed so that they can be read without running the program.

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SETTINGS, readConfig } from '../../../src/service/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { startService } from '../../../src/service/service.ts';
import { copyDatabase } from '../engines/embedded-template.ts';

/** The text of docs/settings.md, made from the table of settings. */
export function renderSettings(): string {
  const rows = SETTINGS.map(({ name, default: defaultText, form, meaning }) => {
    const shownDefault = defaultText === '' ? '(empty)' : `\`${defaultText}\``;
    return `| \`${name}\` | ${shownDefault} | ${form} | ${meaning} |`;
  });
  return `# Settings

Settings are environment variables, and all are optional. The program checks them when it starts. If it finds mistakes, it stops with one
line that names every mistake: a bad value, a name of nine or more characters that is one typing mistake away from a setting, an
\`RPC_URL_\` name without an EVM chain, or a name that begins with \`MERCAT_\`. This page is generated from \`src/service/config.ts\`.

| name | default | form | meaning |
|---|---|---|---|
${rows.join('\n')}
`;
}

/** The committed file of each OpenAPI document, and the path where the service serves it. */
const OPENAPI_PATHS = {
  'openapi/marketplace.json': '/v1/openapi.json',
  'openapi/explore.json': '/explore/v1/openapi.json',
  'openapi/store.json': '/api/v1/openapi.json',
  'openapi/intake.json': '/intake/v1/openapi.json',
};

/**
 * The committed file of each OpenAPI document, with its text. The text is the document that the service serves, as indented JSON.
 */
export function renderOpenApi(): Promise<[file: string, document: string][]> {
  return withDirectory(async (dir) => {
    await copyDatabase(path.join(dir, 'db'), 'migrated');
    const config = readConfig({ PORT: '0', DATA_DIR: dir, BASE_URL: 'http://127.0.0.1:8080' });
    const service = await startService({ config, log: createLog('silent'), sample: false, workers: false });
    const documents = Object.entries(OPENAPI_PATHS).map(async ([file, served]): Promise<[string, string]> => {
      const document: unknown = await (await fetch(service.url + served)).json();
      return [file, `${JSON.stringify(document, null, 2)}\n`];
    });
    const rendered = await Promise.all(documents);
    await service.close();
    return rendered;
  });
}

async function withDirectory<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-derived-'));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
