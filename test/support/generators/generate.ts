// `npm run generate`: writes the committed files that are derived from the program. test/derived.test.ts and
// test/devnet/contracts.test.ts fail if a committed file is out of date.

import { writeFileSync } from 'node:fs';
import { renderCacheParameters } from './cache-parameters.ts';
import { renderClientTypes } from './client-types.ts';
import { renderOpenApi, renderSettings } from './derived.ts';
import { compileDevnetContracts } from './devnet-contracts.ts';
import { writeNewCluster } from './new-cluster.ts';

/** The OpenAPI document of `/v1`. The generated files for nginx and Varnish delete every query parameter that this document does not have. */
const MARKETPLACE = 'openapi/marketplace.json';
const root = new URL('../../../', import.meta.url);
await writeNewCluster();
writeFileSync(new URL('docs/settings.md', root), renderSettings());
const openApi = await renderOpenApi();
const cacheParameters = openApi.flatMap(([file, text]) => (file === MARKETPLACE ? renderCacheParameters(text) : []));
const documents = [...openApi, ...cacheParameters, ...renderClientTypes(new Map(openApi)), ...compileDevnetContracts()];
for (const [file, document] of documents) writeFileSync(new URL(file, root), document);
const files = ['docs/settings.md', ...documents.map(([file]) => file)];
process.stdout.write(`written: ${files.join(', ')}\n`);
