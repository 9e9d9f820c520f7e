// Tests that every route declares how its requests are counted, and that requests are counted as the routes declare.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import Fastify from 'fastify';
import { RouteTable } from '../../src/server/route-table.ts';
import { request } from '../support/http/raw-http.ts';
import { routeTableOf } from '../support/http/route-table.ts';
import { useSampleService } from '../support/service/sample-service.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'];

test('a route without a rate limit bucket cannot be registered', () => {
  const app = Fastify();
  new RouteTable().collect(app);
  assert.throws(() => app.get('/v1/new/:id', () => null), /^Error: route GET \/v1\/new\/:id declares no rate limit/);
  app.get('/v1/new', { config: { bucket: 'single' } }, () => null);
});

test('a path is counted in the bucket of its route, for every method', () => {
  const table = routeTableOf({
    'GET /a': 'list',
    'GET /a/:id': 'single',
    'GET /a/:id/b': 'list',
    'POST /m': 'message',
  });
  const buckets = { '/a': 'list', '/a/1': 'single', '/a/a/b': 'list', '/m': 'message' };
  for (const [path, bucket] of Object.entries(buckets)) {
    for (const spelling of [path, `${path}/`]) {
      for (const method of METHODS) assert.equal(table.bucketOf(method, spelling), bucket, `${method} ${spelling}`);
    }
  }
});

test('a path without a route is counted in the bucket single', () => {
  const table = routeTableOf({ 'GET /a.b': 'list', 'POST /keyed/:id': 'key' });
  for (const path of ['/', '/axb', '/a.b/c', '/xa.b', '/keyed', '/keyed/', '/keyed/1/2', '/keyed//'])
    for (const method of METHODS) assert.equal(table.bucketOf(method, path), 'single', `${method} ${path}`);
});

test('only requests that reach a route which counts by key are left to this route', () => {
  const table = routeTableOf({ 'POST /keyed': 'key', 'GET /keyed/:id': 'key' });
  const left = (path: string) => METHODS.filter((method) => table.bucketOf(method, path) === null);
  assert.deepEqual(left('/keyed'), ['POST']);
  assert.deepEqual(left('/keyed/1/'), ['GET', 'HEAD']);
});

type Document = { paths: Record<string, Record<string, unknown>> };

describe('the public server', () => {
  const service = useSampleService({ limits: { list: 0, message: 0, single: 1_000_000 } });
  const isRejected = async (method: string, path: string) => {
    const { status, headers } = await request(service.url, path, { method });
    if (status === 429) assert.equal(headers['x-ratelimit-limit'], '0', path);
    return status === 429;
  };
  const operationsOf = (name: string) => {
    const file = new URL(`../../openapi/${name}.json`, import.meta.url);
    const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Document;
    return Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/[{}]/g, ''),
        isPaged: JSON.stringify(operation).includes('"pagination"'),
      })),
    );
  };

  test('counts every paged list and every batch of the public interfaces as a list', async () => {
    for (const name of ['marketplace', 'explore']) {
      const lists = operationsOf(name).filter(({ isPaged, path }) => isPaged || path.endsWith('/batch'));
      assert.ok(lists.length > 2, `${name} has ${lists.length} lists`);
      for (const { method, path } of lists) assert.ok(await isRejected(method, path), path);
    }
    assert.ok(await isRejected('POST', '/mcp'));
  });

  test('counts no other documented operation and no page as a list', async () => {
    const singles = ['marketplace', 'explore', 'store', 'intake']
      .flatMap(operationsOf)
      .filter(({ isPaged, path }) => !path.endsWith('/batch') && (!isPaged || !/^\/(explore\/)?v1\//.test(path)));
    assert.ok(singles.length > 30);
    const pages = globSync('docs/*.md', { cwd: new URL('../../', import.meta.url).pathname });
    assert.ok(pages.length > 20);
    const others = ['/', '/docs', '/status', '/llms.txt', '/CHANGELOG.md', ...pages.map((page) => `/${page}`)];
    for (const path of others) singles.push({ method: 'GET', path, isPaged: false });
    for (const { method, path } of singles) {
      if (path === '/explore/v1/stream') continue;
      assert.ok(!(await isRejected(method, path)), `${method} ${path}`);
    }
  });
});
