// Renders files for the configuration of the shared caches in deploy/. With these files, a cache removes from the URL of each request all
// query parameters that no operation of /v1 has. The service would ignore these parameters, but each of their values would make a new cache
// entry.

type Document = { paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>> };

/** The files and their texts, made from the OpenAPI document of `/v1`. */
export function renderCacheParameters(document: string): [file: string, text: string][] {
  const { paths } = JSON.parse(document) as Document;
  const parameters = Object.values(paths).flatMap((operations) =>
    Object.values(operations).flatMap((operation) => operation.parameters ?? []),
  );
  const names = [...new Set(parameters.filter((one) => one.in === 'query').map(({ name }) => name))].sort();
  return [
    ['deploy/nginx/mercat-query.conf', renderNginx(names)],
    ['deploy/varnish/mercat-query.vcl', renderVarnish(names)],
  ];
}

const INTRODUCTION = `# Generated from openapi/marketplace.json by npm run generate. Reduces the query of a /v1 request to the parameters that an operation has,
# in alphabetical order. A query that repeats such a parameter is not changed: Mercat rejects this query.`;

function renderNginx(names: readonly string[]): string {
  const maps = names.map(
    (name) => `map $args ${toVariable(name)} {
  default "";
  "~(?:^|&)(${escape(name)}(?:=[^&]*)?)(?:&|$)" "$1&";
}`,
  );
  return `${INTRODUCTION}

${maps.join('\n')}

map $args $mercat_repeats {
  default 0;
  "~(?:^|&)(${names.map(escape).join('|')})(?:=[^&]*)?&(?:.*&)?\\1(?:=|&|$)" 1;
}
map $mercat_repeats:${names.map(toVariable).join('')} $mercat_query {
  default "";
  "~^0:(.+)&$" "?$1";
  "~^1:" "?$args";
}
`;
}

const toVariable = (name: string) => `$mercat_arg_${name.replaceAll(/\W/g, '_')}`;
const escape = (name: string) => name.replaceAll(/\W/g, String.raw`\$&`);

function renderVarnish(names: readonly string[]): string {
  const steps = names.map(
    (name) => `  if (req.url ~ "^[^?]*\\?(?:.*&)?${escape(name)}(?:=[^&]*)?(?:&|$)") {
    set req.http.X-Mercat-Query = req.http.X-Mercat-Query
      + regsub(req.url, "^[^?]*\\?(?:.*&)?(${escape(name)}(?:=[^&]*)?)(?:&.*)?$", "&\\1");
  }`,
  );
  return `${INTRODUCTION}

sub mercat_query {
  if (req.url ~ "^[^?]*\\?(?:.*&)?(${names.map(escape).join('|')})(?:=[^&]*)?&(?:.*&)?\\1(?:=|&|$)") {
    return (pass);
  }
  set req.http.X-Mercat-Query = "";
${steps.join('\n')}
  set req.url = regsub(req.url, "\\?.*$", "") + regsub(req.http.X-Mercat-Query, "^&", "?");
  unset req.http.X-Mercat-Query;
}
`;
}
