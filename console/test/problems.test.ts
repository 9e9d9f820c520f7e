// Tests which problems the console lists for a state of the service.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceState } from '../src/data/service-state.ts';
import { findProblems } from '../src/service/problems.ts';

const GOOD: ServiceState = {
  at: '2026-06-01T00:00:00.000Z',
  databases: {
    main: { engine: 'embedded', answers: true, latencyMs: 1 },
    indexer: { engine: 'embedded', answers: true, latencyMs: 1 },
  },
  chains: [
    {
      chain: 'base',
      mode: 'live',
      block: 100,
      blockTime: '2026-06-01T00:00:00.000Z',
      headDistance: 2,
      reorganisations: 3,
      note: null,
      collections: { live: 1, catchingUp: 0 },
      comparison: { compared: 'all', disputed: null },
      endpoints: [
        { position: 0, state: 'ready', lag: 0, failures: 0 },
        { position: 1, state: 'ready', lag: 0, failures: 0 },
      ],
    },
  ],
  tasks: [
    {
      name: 'sales',
      state: 'ok',
      periodSeconds: 60,
      lastSuccess: '2026-06-01T00:00:00.000Z',
      failures: 0,
      rows: { read: 1, changed: 1, refused: 0 },
      upstreams: [
        {
          name: 'opensea',
          breaker: 'closed',
          budget: { perHour: 10, left: 5 },
          requests: 5,
          retries: 0,
          refused: 0,
          lastFailure: null,
        },
      ],
    },
  ],
  unavailable: [],
};

const [CHAIN] = GOOD.chains ?? [];
const [TASK] = GOOD.tasks ?? [];
const titles = (state: ServiceState) => findProblems(state, (chain) => chain.toUpperCase()).map(({ title }) => title);

test('a service that works has no problems', () => {
  assert.deepEqual(titles(GOOD), []);
});

test('problems of parts that fail come before problems of parts that are late or limited', () => {
  assert.ok(CHAIN && TASK);
  const state: ServiceState = {
    ...GOOD,
    webhooks: { pending: 9, due: 3, events: 0, oldestDueAgeSeconds: 75 },
    rateLimits: { counted: 'alone' },
    chains: [{ ...CHAIN, headDistance: 1_000, endpoints: [{ position: 0, state: 'resting', lag: null, failures: 9 }] }],
    tasks: [{ ...TASK, state: 'failing', failures: 3 }],
    databases: { ...GOOD.databases, indexer: { engine: 'postgres', answers: false, latencyMs: null } },
  };
  assert.deepEqual(titles(state), [
    'The database of the index does not respond.',
    'No endpoint of BASE works.',
    'The task sales has failed 3 times in a row.',
    'BASE is 1,000 blocks behind.',
    'Webhook deliveries are late.',
    'Redis does not respond.',
  ]);
});

test('endpoints that disagree are a problem that began when the dispute began', () => {
  assert.ok(CHAIN);
  const disputed = { kind: 'new', block: 1_234, since: '2026-05-31T00:00:00.000Z' };
  const chains = [{ ...CHAIN, comparison: { compared: 'all', disputed } }];
  const [problem] = findProblems({ ...GOOD, chains }, (chain) => chain);
  assert.equal(problem?.title, 'The endpoints of base disagree about block 1,234.');
  assert.equal(problem.since, disputed.since);
});

test('deliveries that have been due for only a few seconds are not a problem', () => {
  assert.deepEqual(titles({ ...GOOD, webhooks: { pending: 9, due: 3, events: 1, oldestDueAgeSeconds: 5 } }), []);
});

test('a section that cannot be read is one problem and causes no other problems', () => {
  assert.deepEqual(titles({ ...GOOD, chains: null, tasks: null, unavailable: ['chains', 'tasks'] }), [
    'The section chains of the state cannot be read.',
    'The section tasks of the state cannot be read.',
  ]);
});

test('a chain that is not read any more has no problems', () => {
  assert.ok(CHAIN);
  assert.deepEqual(
    titles({ ...GOOD, chains: [{ ...CHAIN, mode: 'frozen', note: 'stopped', headDistance: null }] }),
    [],
  );
});

test('three failing tasks are listed as one problem, and two failing tasks as two problems', () => {
  const failing = ['prices', 'sales', 'tokens'].map((name) => ({ ...(TASK ?? assert.fail()), name, state: 'failing' }));
  assert.deepEqual(titles({ ...GOOD, tasks: failing }), ['These tasks fail: prices, sales, tokens.']);
  assert.equal(titles({ ...GOOD, tasks: failing.slice(1) }).length, 2);
});
