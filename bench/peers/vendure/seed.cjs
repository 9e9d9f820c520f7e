// Creates the tables, a channel, and PRODUCTS products with one variant in stock. Writes what the benchmark needs to the file SEEDED.

const { writeFileSync } = require('node:fs');
const { bootstrap } = require('@vendure/core');
const { populate } = require('@vendure/core/cli');
const { config } = require('./config.cjs');

const PRODUCTS = Number(process.env.PRODUCTS);

const INITIAL_DATA = {
  defaultLanguage: 'en',
  defaultZone: 'Europe',
  countries: [{ name: 'Austria', code: 'AT', zone: 'Europe' }],
  taxRates: [{ name: 'Standard', percentage: 20 }],
  shippingMethods: [],
  paymentMethods: [],
  collections: [],
  roles: [],
};

const LOGIN = 'mutation { login(username: "bench", password: "bench") { __typename } }';
const CREATE_PRODUCT = 'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }';
const CREATE_VARIANTS =
  'mutation ($input: [CreateProductVariantInput!]!) { createProductVariants(input: $input) { id } }';

let authorization = '';

async function call(query, variables) {
  const response = await fetch(`http://127.0.0.1:${config.apiOptions.port}/admin-api`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    body: JSON.stringify({ query, variables }),
  });
  const token = response.headers.get('vendure-auth-token');
  if (token) authorization = `Bearer ${token}`;
  const { data, errors } = await response.json();
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

async function main() {
  await populate(() => bootstrap(config), INITIAL_DATA);
  await call(LOGIN);
  const productIds = [];
  const variantIds = [];
  for (let number = 0; number < PRODUCTS; number += 1) {
    const name = `Product ${number}`;
    const translation = { languageCode: 'en', name };
    const product = { enabled: true, translations: [{ ...translation, slug: `product-${number}`, description: '' }] };
    const { createProduct } = await call(CREATE_PRODUCT, { input: product });
    const variant = { sku: `sku-${number}`, price: 1_990, stockOnHand: 1_000_000, trackInventory: 'TRUE' };
    const { createProductVariants } = await call(CREATE_VARIANTS, {
      input: [{ ...variant, productId: createProduct.id, translations: [translation] }],
    });
    productIds.push(createProduct.id);
    variantIds.push(createProductVariants[0].id);
  }
  writeFileSync(process.env.SEEDED, JSON.stringify({ productIds, variantIds }));
}

main().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  },
);
