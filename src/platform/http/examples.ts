// Composes the examples of requests and responses in OpenAPI documents from the examples of their schemas, so that no example has to be
// written a second time.

type Schema = {
  $ref?: string;
  examples?: readonly unknown[];
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
};

type Media = { schema?: Schema; example?: unknown };
type Body = { content?: Readonly<Record<string, Media>> };
type Operation = { requestBody?: Body; responses?: Readonly<Record<string, Body>> };

type Document = {
  paths: Readonly<Record<string, object>>;
  webhooks?: Readonly<Record<string, object>>;
  components: { schemas: Readonly<Record<string, Schema>> };
};

/** Adds an example to each request body and each success response without an example, if its schemas have enough examples. */
export function addExamples(document: Document): void {
  for (const item of [...Object.values(document.paths), ...Object.values(document.webhooks ?? {})]) {
    for (const operation of Object.values(item) as Operation[]) {
      for (const media of listMedia(operation)) {
        if (media.schema === undefined || media.example !== undefined) continue;
        const example = composeExample(media.schema, document.components.schemas);
        if (example !== undefined) media.example = example;
      }
    }
  }
}

function listMedia({ requestBody, responses = {} }: Operation): Media[] {
  const successes = Object.entries(responses).flatMap(([status, body]) => (status.startsWith('2') ? [body] : []));
  return [requestBody, ...successes].flatMap((body) => Object.values(body?.content ?? {}));
}

/**
 * The first example of the schema. If the schema has no example, a value composed from examples of its parts: of all required properties of
 * an object, of the items of an array, or of the first alternative that has an example. Undefined if such an example is missing.
 */
function composeExample(schema: Schema, components: Readonly<Record<string, Schema>>): unknown {
  if (schema.examples) return schema.examples[0];
  if (schema.$ref !== undefined) {
    const component = components[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)];
    return component && composeExample(component, components);
  }
  if (schema.enum?.length === 1) return schema.enum[0];
  if (schema.anyOf) return schema.anyOf.map((one) => composeExample(one, components)).find((one) => one !== undefined);
  if (schema.items) {
    const item = composeExample(schema.items, components);
    return item === undefined ? undefined : [item];
  }
  if (!schema.properties) return undefined;
  const properties = (schema.required ?? []).map((name) => {
    const property = schema.properties?.[name];
    return [name, property && composeExample(property, components)] as const;
  });
  return properties.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(properties);
}
