// Creates a secret key and PRODUCTS products with stock in one location. The environment variable SEEDED names
// the file to which the key and the ids are written for the benchmark.

const { writeFileSync } = require('node:fs');
const {
  createApiKeysWorkflow,
  createInventoryLevelsWorkflow,
  createProductsWorkflow,
  createStockLocationsWorkflow,
} = require('@medusajs/medusa/core-flows');

const PRODUCTS = Number(process.env.PRODUCTS);
/** The number of products that one workflow creates. */
const BATCH = 100;

module.exports.default = async ({ container }) => {
  const run = async (workflow, input) => (await workflow(container).run({ input })).result;
  const [key] = await run(createApiKeysWorkflow, { api_keys: [{ title: 'bench', type: 'secret', created_by: '' }] });
  const [location] = await run(createStockLocationsWorkflow, { locations: [{ name: 'bench' }] });
  const productIds = [];
  for (let first = 0; first < PRODUCTS; first += BATCH) {
    const products = Array.from({ length: BATCH }, (_, index) => toProduct(first + index));
    productIds.push(...(await run(createProductsWorkflow, { products })).map(({ id }) => id));
  }
  const { data: items } = await container.resolve('query').graph({ entity: 'inventory_item', fields: ['id'] });
  await run(createInventoryLevelsWorkflow, {
    inventory_levels: items.map(({ id }) => ({
      inventory_item_id: id,
      location_id: location.id,
      stocked_quantity: 1_000_000,
    })),
  });
  const seeded = { key: key.token, locationId: location.id, productIds, itemIds: items.map(({ id }) => id) };
  writeFileSync(process.env.SEEDED, JSON.stringify(seeded));
};

function toProduct(number) {
  return {
    title: `Product ${number}`,
    handle: `product-${number}`,
    status: 'published',
    options: [{ title: 'Default', values: ['Default'] }],
    variants: [
      {
        title: 'Default',
        sku: `sku-${number}`,
        manage_inventory: true,
        options: { Default: 'Default' },
        prices: [{ amount: 19.9, currency_code: 'eur' }],
      },
    ],
  };
}
