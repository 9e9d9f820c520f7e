// Two nodes with two replicas and Redis. Replicas are paused and killed while each writer sends its writes to the two nodes in turn. Every
// response of both nodes is compared with the writes. Then one node is killed behind a balancer. Runs only if REPLICA_WRITES is set to the
// number of writes of each writer.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Balancer } from '../../faults/balancer.ts';
import { startBalancer } from '../../faults/balancer.ts';
import { describeError } from '../../src/core/errors.ts';
import { STORE_SCOPES } from '../../src/shop/keys/scopes.ts';
import { withClient } from '../support/engines/postgres-locks.ts';
import type { PostgresServer } from '../support/engines/postgres-server.ts';
import { startOwnPostgres } from '../support/engines/postgres-server.ts';
import type { RedisServer } from '../support/engines/redis-server.ts';
import { startRedis } from '../support/engines/redis-server.ts';
import type { TestCollection } from '../support/service/market.ts';
import { newCollection } from '../support/service/market.ts';
import type { ServiceProcess } from '../support/service/service-process.ts';
import { sendToSocket, startServiceProcess } from '../support/service/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const WRITES = Number(process.env['REPLICA_WRITES'] ?? 0);
const WRITERS = 2;
const NODES = 2;
const PAUSE_MS = 20;
const LIMIT_MS = 600_000;
/**
 * A response may lack a write of the other node for this long: one second while a response is fresh, five seconds while a new response is
 * computed, and one second of lag.
 */
const OTHER_NODE_MAX_MS = 7_000;
const BALANCED_READERS = 8;
const READS_BEFORE_KILL = 200;

type Write = { version: number; node: number; at: number };

/** What one writer has written. Each write has a number, and changes the names of a collection, a token and a product to this number. */
type Written = { subject: TestCollection; productId: string; writes: Write[] };

describe('two nodes with replicas and Redis', { skip: WRITES > 0 ? false : 'run by npm run test:replicas' }, () => {
  let primary: PostgresServer;
  let replicas: PostgresServer[] = [];
  let redis: RedisServer;
  const nodes: ServiceProcess[] = [];
  let key = '';
  const wrong: string[] = [];

  before(async () => {
    primary = await startOwnPostgres();
    replicas = [await startOwnPostgres({ replicaOf: primary.url }), await startOwnPostgres({ replicaOf: primary.url })];
    redis = await startRedis();
    for (let node = 0; node < NODES; node += 1) {
      const process = await startServiceProcess({
        DATA_DIR: temporaryDirectory(),
        DATABASE_URL: primary.url,
        DATABASE_REPLICA_URLS: replicas.map(({ url }) => url).join(','),
        REDIS_URL: redis.url,
        STORE_RATE_LIMIT: '100000000',
        // The client sends X-Forwarded-For like a proxy, and the balancer is a second proxy.
        TRUST_PROXY: '2',
        SOURCE_TIMEOUT_MS: '10000',
      });
      nodes.push(process);
    }
    await operate('shops.create', { name: 'shop' });
    const created = await operate('keys.create', { shop: 'shop', scopes: [...STORE_SCOPES, 'intake:write'] });
    key = created.secret;
  });
  after(async () => {
    for (const node of nodes) await node.kill();
    await redis.discard();
    for (const server of [...replicas, primary]) await server.discard();
  });

  async function operate(operation: string, input: object): Promise<any> {
    const { socketPath = '' } = nodes[0] ?? {};
    return (await sendToSocket(socketPath, 'POST', `/operator/v1/${operation}`, input)).body.result;
  }

  /** Sends a request to a node. Throws unless it succeeds. */
  async function send(node: number, method: string, path: string, body?: unknown): Promise<any> {
    const headers = { 'x-forwarded-for': newAddress(), authorization: `Bearer ${key}`, 'content-type': typeOf(body) };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${nodes[node]?.url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: text }),
    });
    const received = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${received}`);
    return JSON.parse(received.split('\n')[0] ?? '');
  }

  async function createWritten(number: number): Promise<Written> {
    const { data } = await send(0, 'POST', '/api/v1/products', { name: '0', price: '1' });
    return { subject: newCollection({ slug: `checked-${number}` }), productId: data.id, writes: [] };
  }

  /** Writes through the nodes in turn. After each write, every node must respond immediately with the new name of the product. */
  async function write({ subject, productId, writes }: Written): Promise<void> {
    const version = writes.length + 1;
    const node = version % NODES;
    const name = String(version);
    const records = [subject.collection({ name }), subject.token('1', { name })];
    await send(node, 'POST', '/intake/v1/records', records.map((record) => JSON.stringify(record)).join('\n'));
    writes.push({ version, node, at: performance.now() });
    await send(node, 'PUT', `/api/v1/products/${productId}`, { name });
    for (const reader of nodes.keys()) {
      const { data } = await send(reader, 'GET', `/api/v1/products/${productId}`);
      if (data.name !== name)
        wrong.push(`node ${reader} has the product name ${data.name}, although ${name} was written`);
    }
  }

  /** Reads a path of a node until `ended`, and compares each response with the writes and with the earlier responses. */
  async function compare(node: number, path: string, { writes }: Written, ended: AbortSignal): Promise<number> {
    let latest = 0;
    let count = 0;
    while (!ended.aborted) {
      const beganAt = performance.now();
      const version = Number((await send(node, 'GET', path)).data.name);
      count += 1;
      const isRequired = (one: Write) =>
        one.node === node ? one.at <= beganAt : one.at + OTHER_NODE_MAX_MS <= beganAt;
      const required = writes.findLast(isRequired)?.version ?? 0;
      if (version < required) wrong.push(`${path} of node ${node} has ${version} instead of ${required}`);
      if (version < latest) wrong.push(`${path} of node ${node} went back from ${latest} to ${version}`);
      latest = Math.max(latest, version);
      await sleep(PAUSE_MS);
    }
    return count;
  }

  async function breakReplicas(): Promise<void> {
    const [paused, killed] = replicas;
    assert.ok(paused && killed);
    await withClient(paused.url, (client) => client.query('select pg_wal_replay_pause()'));
    await sleep(2_500);
    await killed.kill();
    await sleep(1_500);
    await killed.start();
    await withClient(paused.url, (client) => client.query('select pg_wal_replay_resume()'));
    await sleep(1_500);
  }

  test('no response is wrong while replicas are paused and killed', async (t) => {
    const all = await Promise.all(Array.from({ length: WRITERS }, (_, number) => createWritten(number)));
    for (const written of all) await write(written);
    const ended = new AbortController();
    const paths = ({ subject }: Written) => [
      subject.path,
      `/v1/tokens/ethereum/${subject.address}/1`,
      `/explore/v1/collections/${subject.slug}`,
    ];
    const readers = all.flatMap((written) =>
      paths(written).flatMap((path) => [...nodes.keys()].map((node) => compare(node, path, written, ended.signal))),
    );
    const writers = all.map(async (written) => {
      while (written.writes.length < WRITES) {
        await write(written);
        await sleep(PAUSE_MS);
      }
    });
    const isWritten = () => all.every(({ writes }) => writes.length >= WRITES);
    const breaking = async () => {
      do await breakReplicas();
      while (!isWritten());
    };
    await Promise.all([...writers, breaking()]).finally(() => ended.abort());
    const counts = await Promise.all(readers);
    const reads = counts.reduce((sum, count) => sum + count);
    t.diagnostic(`${WRITES * WRITERS} writes, ${reads} public reads compared, ${wrong.length} wrong`);
    assert.deepEqual(wrong, []);
  });

  test('no request behind a balancer fails when a node is killed', async (t) => {
    const balancer: Balancer = await startBalancer(
      nodes.map(({ url }) => url),
      { repeats: true },
    );
    // A test that fails must not leave the load running, or the port open, which would keep the process alive.
    const ended = new AbortController();
    t.after(() => balancer.close());
    t.after(() => ended.abort());
    const failures: string[] = [];
    let reads = 0;
    const read = async () => {
      while (!ended.signal.aborted) {
        for (const path of [
          '/v1/collections/checked-0',
          `/v1/collections?limit=${1 + (reads % 100)}`,
          '/api/v1/products',
        ]) {
          const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': newAddress() };
          const failure = await fetch(`${balancer.url}${path}`, { headers }).then(
            async (response) => (response.ok ? void (await response.arrayBuffer()) : `${response.status}`),
            (error: unknown) => describeError(error),
          );
          if (failure !== undefined) failures.push(`${path}: ${failure}`);
          reads += 1;
        }
      }
    };
    const write = async () => {
      for (let number = 0; !ended.signal.aborted; number += 1) {
        const headers = {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        };
        const body = JSON.stringify({ name: `Product ${number}`, price: '1' });
        const response = await fetch(`${balancer.url}/api/v1/products`, { method: 'POST', headers, body });
        if (response.status !== 201) failures.push(`POST: ${response.status} ${await response.text()}`);
      }
    };
    const load = [write(), ...Array.from({ length: BALANCED_READERS }, read)];
    await until(() => reads > READS_BEFORE_KILL, LIMIT_MS, 'the nodes do not respond');
    await nodes[1]?.kill();
    const atKill = reads;
    await until(() => reads > atKill + 2 * READS_BEFORE_KILL, LIMIT_MS, 'the remaining node does not respond');
    ended.abort();
    await Promise.all(load);
    t.diagnostic(`${reads} reads, ${failures.length} failed`);
    assert.deepEqual(failures, []);
  });
});

const typeOf = (body: unknown) => (typeof body === 'string' ? 'application/x-ndjson' : 'application/json');

let addresses = 0;

/** A client address that no earlier request has used, so that no rate limit applies. */
function newAddress(): string {
  addresses += 1;
  return `198.${18 + (addresses >> 16)}.${(addresses >> 8) & 255}.${addresses & 255}`;
}
