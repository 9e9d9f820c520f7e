// The configuration of Medusa for the benchmarks: without the dashboard, and only with modules that need no other service.

const { defineConfig } = require('@medusajs/framework/utils');

const cors = 'http://localhost';

module.exports = defineConfig({
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    databaseDriverOptions: { connection: { ssl: false } },
    http: { storeCors: cors, adminCors: cors, authCors: cors, jwtSecret: 'bench', cookieSecret: 'bench' },
  },
  admin: { disable: true },
});
