// Generates the types and the tables of operations of the client package from the OpenAPI documents.

/** A JSON Schema, with the keywords that the documents use. */
type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  description?: string;
};
type Content = Readonly<Record<string, { schema: Schema }>>;
type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
};
type DocumentedOperation = {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: readonly Parameter[];
  requestBody?: { content: Content };
  responses: Readonly<Record<string, { content?: Content }>>;
};
type OpenApi = {
  paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  components: { schemas: Readonly<Record<string, Schema>> };
  webhooks?: Readonly<Record<string, { post: DocumentedOperation }>>;
};

const JSON_TYPE = 'application/json';
/** Operations that only describe the interface. They are left out, because two documents have operations of these names. */
const LEFT_OUT = new Set(['getIndex', 'getOpenApi']);
const INTERFACES = ['marketplace', 'explore', 'store', 'intake'] as const;
const fileOf = (name: string) => `openapi/${name}.json`;

/** The OpenAPI documents that the client is generated from. */
export const CLIENT_DOCUMENTS = INTERFACES.map(fileOf);

/** The generated files, by path. `documents`: the OpenAPI documents as text, by path. */
export function renderClientTypes(documents: ReadonlyMap<string, string>): [file: string, text: string][] {
  const parse = (name: string) => JSON.parse(documents.get(fileOf(name)) ?? '') as OpenApi;
  const marketplace = parse('marketplace');
  return INTERFACES.map((name) => {
    const renderer = new Renderer(name, parse(name), name === 'marketplace' ? null : marketplace);
    return [`client/src/generated/${name}.ts`, renderer.render(name)];
  });
}

type RenderedOperation = { types: string[]; method: string; row: string };

class Renderer {
  readonly #document: OpenApi;
  readonly #title: string;
  /** The document of `/v1`. A schema that both documents define in the same way is imported. Null while the document of `/v1` is rendered. */
  readonly #base: OpenApi | null;
  readonly #imported = new Set<string>();
  readonly #needed = new Set<string>();
  readonly #chains: string;

  constructor(name: string, document: OpenApi, base: OpenApi | null) {
    this.#title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    this.#document = document;
    this.#base = base;
    const { chain } = (base ?? document).components.schemas['MarketItem']?.properties ?? {};
    this.#chains = JSON.stringify(chain?.enum);
  }

  render(name: string): string {
    const operations = Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => !LEFT_OUT.has(operation.operationId) && isJson(operation))
        .map(([method, operation]) => this.#renderOperation(path, method.toUpperCase(), operation)),
    );
    const events = this.#renderWebhookEvents();
    const schemas = this.#renderSchemas();
    const uses = (type: string) => operations.some(({ method }) => method.includes(type));
    const imports: [file: string, types: string[]][] = [
      ['../calls.ts', ['Operations', ...(uses('WriteOptions') ? ['WriteOptions'] : [])]],
      ['../pages.ts', uses('Pages<') ? ['Pages'] : []],
      ['../transport.ts', uses('CallOptions') ? ['CallOptions'] : []],
      ['./marketplace.ts', [...this.#imported].sort()],
    ];
    return `${[
      `// Generated from openapi/${name}.json by \`npm run generate\`.`,
      '',
      ...imports
        .filter(([, types]) => types.length > 0)
        .map(([file, types]) => `import type { ${types.join(', ')} } from '${file}';`),
      '',
      ...schemas,
      ...operations.flatMap(({ types }) => types),
      ...events,
      `export type ${this.#title}Methods = {`,
      ...operations.map(({ method }) => method),
      '};',
      '',
      `export const ${name.toUpperCase()}_OPERATIONS = {`,
      ...operations.map(({ row }) => row),
      '} as const satisfies Operations;',
    ].join('\n')}\n`;
  }

  #renderOperation(path: string, method: string, operation: DocumentedOperation): RenderedOperation {
    const { operationId, parameters = [], requestBody, responses } = operation;
    const title = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}`;
    const given = parameters.filter((parameter) => parameter.in !== 'header');
    const headers = new Set(parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name));
    const body = requestBody?.content[JSON_TYPE]?.schema;
    const result = jsonOf(responses['200'] ?? responses['201']);
    const isList = result.properties?.['pagination'] !== undefined;
    const kind = isList ? 'list' : isRead(path, method) ? 'read' : isKeyed(method, headers) ? 'keyed' : 'write';

    const types: string[] = [];
    const fields = given.map(({ name, required, description, schema }) =>
      toField(name, this.#toType(schema, 1), { isRequired: required === true, description, takesUndefined: true }),
    );
    const parts = [...(fields.length > 0 ? [`{\n${fields.join('')}}`] : []), ...(body ? [this.#toType(body, 0)] : [])];
    if (parts.length > 0) types.push(`export type ${title}Parameters = ${parts.join(' & ')};\n`);
    const resultName = result.$ref ? this.#toType(result, 0) : `${title}Result`;
    if (!result.$ref) types.push(`export type ${resultName} = ${this.#toResultType(result, path)};\n`);

    const isOptional = given.every(({ required }) => !required) && !(body?.$ref && this.#resolve(body).required);
    const options = headers.size > 0 ? 'WriteOptions' : 'CallOptions';
    const first =
      parts.length === 0
        ? 'parameters?: Record<string, never>'
        : `parameters${isOptional ? '?' : ''}: ${title}Parameters`;
    const returned = isList ? `Pages<${resultName}>` : `Promise<${resultName}>`;
    const query = given.filter((parameter) => parameter.in === 'query').map(({ name }) => `'${name}'`);
    return {
      types,
      method: `${toComment([operation.summary && `${operation.summary}.`, operation.description].filter(Boolean).join(' '), 1)}  ${operationId}(${first}, options?: ${options}): ${returned};`,
      row: `  ${operationId}: { method: '${method}', path: '${path}', kind: '${kind}'${query.length > 0 ? `, query: [${query.join(', ')}]` : ''}${body ? ', hasBody: true' : ''} },`,
    };
  }

  /** A result of the store also has `etag` and `isReplay`, which the client reads from the response headers. */
  #toResultType(result: Schema, path: string): string {
    const type = this.#toType(result, 0);
    return path.startsWith('/api/') ? `${type} & { etag: string | null; isReplay: boolean }` : type;
  }

  #renderWebhookEvents(): string[] {
    const webhooks = Object.values(this.#document.webhooks ?? {});
    if (webhooks.length === 0) return [];
    const types = webhooks.map(({ post }) => this.#toType(post.requestBody?.content[JSON_TYPE]?.schema ?? {}, 0));
    return [`/** The body of a webhook delivery. */\nexport type WebhookEvent = ${types.join(' | ')};\n`];
  }

  /** The schemas that the rendered operations need, directly or through other schemas. */
  #renderSchemas(): string[] {
    const rendered: [name: string, text: string][] = [];
    // Rendering a schema can add other schemas to the set. The loop also renders the added schemas.
    for (const name of this.#needed) {
      const schema = this.#document.components.schemas[name] ?? {};
      rendered.push([
        name,
        `${toComment(schema.description, 0)}export type ${this.#typeOf(name)} = ${this.#toType(schema, 0)};\n`,
      ]);
    }
    rendered.sort(([a], [b]) => (a < b ? -1 : 1));
    const chain = `/** A service can also serve one chain that the documents do not list. */\nexport type Chain = ${toUnion(JSON.parse(this.#chains) as string[])} | (string & {});\n`;
    return [...(this.#base ? [] : [chain]), ...rendered.map(([, text]) => text)];
  }

  #toType(schema: Schema, depth: number): string {
    if (schema.$ref) return this.#toReference(schema.$ref.split('/').at(-1) ?? '');
    if (schema.enum) return this.#toEnum(schema.enum);
    const alternatives = schema.anyOf ?? (schema.properties ? undefined : schema.oneOf);
    if (alternatives) return [...new Set(alternatives.map((one) => this.#toType(one, depth)))].join(' | ');
    const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['object']);
    return types.map((type) => this.#toSimpleType(type, schema, depth)).join(' | ');
  }

  #toSimpleType(type: string, schema: Schema, depth: number): string {
    if (type === 'integer') return 'number';
    if (type === 'array') return toArray(this.#toType(schema.items ?? {}, depth));
    return type === 'object' ? this.#toObject(schema, depth) : type;
  }

  #toObject({ properties = {}, required = [], additionalProperties }: Schema, depth: number): string {
    const fields = Object.entries(properties).map(([name, schema]) => {
      const type = name === 'raw' ? toBigint(schema) : this.#toType(schema, depth + 1);
      return toField(name, type, { isRequired: required.includes(name), description: schema.description, depth });
    });
    if (fields.length > 0) return `{\n${fields.join('')}${'  '.repeat(depth)}}`;
    const value = typeof additionalProperties === 'object' ? this.#toType(additionalProperties, depth) : 'unknown';
    return `Record<string, ${value}>`;
  }

  #toEnum(values: readonly unknown[]): string {
    const others = values.filter((value) => value !== null);
    if (JSON.stringify(others) !== this.#chains) return toUnion(values);
    if (this.#base) this.#imported.add('Chain');
    return others.length === values.length ? 'Chain' : 'Chain | null';
  }

  #toReference(name: string): string {
    (this.#isShared(name) ? this.#imported : this.#needed).add(name);
    return this.#typeOf(name);
  }

  #isShared(name: string): boolean {
    return this.#base !== null && definitionOf(this.#base, name) === definitionOf(this.#document, name);
  }

  /** A schema that the document of `/v1` defines in another way is a type with the name of the interface before its own. */
  #typeOf(name: string): string {
    return this.#base?.components.schemas[name] && !this.#isShared(name) ? `${this.#title}${name}` : name;
  }

  #resolve(schema: Schema): Schema {
    return this.#document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? {};
  }
}

/** A schema with all schemas that it refers to, as text. Two documents define a type in the same way if the texts are the same. */
function definitionOf({ components: { schemas } }: OpenApi, name: string): string {
  const found = new Set([name]);
  // Reading a schema can add other schemas to the set. The loop also reads the added schemas.
  for (const one of found) {
    const references = JSON.stringify(schemas[one] ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g);
    for (const [, reference = ''] of references) found.add(reference);
  }
  return JSON.stringify([...found].map((one) => schemas[one]));
}

const isJson = ({ requestBody, responses }: DocumentedOperation) =>
  (!requestBody || JSON_TYPE in requestBody.content) &&
  (responses['200'] ?? responses['201'])?.content?.[JSON_TYPE] !== undefined;

/** The interfaces `/v1` and `/explore/v1` are read-only, whatever the method. */
const isRead = (path: string, method: string) => method === 'GET' || /^(\/explore)?\/v1\//.test(path);

const isKeyed = (method: string, headers: ReadonlySet<string>) => method !== 'DELETE' && headers.has('idempotency-key');

const jsonOf = (response: { content?: Content } | undefined): Schema => response?.content?.[JSON_TYPE]?.schema ?? {};

const toUnion = (values: readonly unknown[]) =>
  values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(' | ');

const toArray = (type: string) => (/[|&]/.test(type) && !type.startsWith('{') ? `(${type})[]` : `${type}[]`);

/** The type of a property with the name `raw`, which holds base units. `client/src/json.ts` parses every such property as a bigint. */
function toBigint(schema: Schema): string {
  if (schema.type !== 'string')
    throw new Error('a property `raw` is not a string, so it cannot have the base units of a price');
  return 'bigint';
}

type FieldOptions = { isRequired: boolean; description?: string | undefined; depth?: number; takesUndefined?: boolean };

function toField(name: string, type: string, options: FieldOptions): string {
  const { isRequired, description, depth = 0, takesUndefined = false } = options;
  const key = /^\w+$/.test(name) ? name : `'${name}'`;
  const mark = isRequired ? ':' : '?:';
  const text = `${'  '.repeat(depth + 1)}${key}${mark} ${type}${takesUndefined && !isRequired ? ' | undefined' : ''};\n`;
  return toComment(description, depth + 1) + text;
}

function toComment(text: string | undefined, depth: number): string {
  return text ? `${'  '.repeat(depth)}/** ${text.replaceAll(/\s+/g, ' ').replaceAll('*/', '* /')} */\n` : '';
}
