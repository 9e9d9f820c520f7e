// Ponder does not start without a file that exports an HTTP interface.

import { Hono } from 'hono';

export default new Hono();
