// What `mercat serve` prints when the service has started.

import type { Service } from '../service/service.ts';

/** Describes the running service to a new user. */
export function describeService(
  { url, hasConsole, sampleRecords }: Pick<Service, 'url' | 'hasConsole' | 'sampleRecords'>,
  { dataDir, hasSample, processes = 1 }: { dataDir: string | null; hasSample: boolean; processes?: number },
): string {
  const lines = [
    `Mercat serves on ${url}`,
    ...(processes > 1 ? [`Processes: ${processes}`] : []),
    ...(hasConsole ? [`Console: ${url}/ (open it in a browser)`] : []),
    ...(dataDir === null ? [] : [`Data: the embedded database in ${dataDir}`]),
    ...(sampleRecords > 0 ? [`Sample marketplace: ${sampleRecords} records loaded into the empty database`] : []),
    '',
    'Try:',
    `  curl '${url}/v1/collections?limit=3'`,
    ...(hasSample ? [`  curl '${url}/v1/collections/harbour-lights/listings?limit=3'`] : []),
    `  open ${url}/docs`,
    '',
    'Load your data: npx --no mercat import FILE.ndjson          Stop: Ctrl-C',
  ];
  return `${lines.join('\n')}\n`;
}
