// Ponder does not start without an interface.

import { Hono } from 'hono';

export default new Hono();
