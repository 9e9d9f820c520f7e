// `npm run generate`: writes what is derived and committed. Tests prove that it is current.

import { writeFileSync } from 'node:fs';
import { renderSettings, renderSchema, renderOpenApi } from './derived.ts';

const root = new URL('../../', import.meta.url);
writeFileSync(new URL('docs/settings.md', root), renderSettings());
writeFileSync(new URL('src/db/schema.sql', root), await renderSchema());
writeFileSync(new URL('openapi/marketplace.json', root), await renderOpenApi());
process.stdout.write('docs/settings.md, src/db/schema.sql and openapi/marketplace.json are written\n');
