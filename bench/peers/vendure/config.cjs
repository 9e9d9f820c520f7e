// Vendure without plugins, on PostgreSQL.

const { DefaultLogger, LogLevel } = require('@vendure/core');

module.exports.config = {
  apiOptions: {
    hostname: '127.0.0.1',
    port: Number(process.env.PORT),
    adminApiPath: 'admin-api',
    shopApiPath: 'shop-api',
  },
  authOptions: {
    tokenMethod: ['bearer'],
    superadminCredentials: { identifier: 'bench', password: 'bench' },
    cookieOptions: { secret: 'bench' },
  },
  dbConnectionOptions: {
    type: 'postgres',
    url: process.env.DATABASE_URL,
    synchronize: process.env.SYNCHRONIZE === 'yes',
    migrations: [],
    logging: false,
  },
  paymentOptions: { paymentMethodHandlers: [] },
  customFields: {},
  plugins: [],
  logger: new DefaultLogger({ level: LogLevel.Error }),
};
