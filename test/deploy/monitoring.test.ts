// Checks the alert rules and the dashboard in deploy/. They must name only metrics that exist, and each rule must fire on the problem that it
// is for. The tests of the rules need `promtool` (Debian's package `prometheus`), or PROMTOOL with its path.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { METRIC_NAMES } from '../../src/service/metrics/gauge-table.ts';

const pathOf = (file: string) => fileURLToPath(new URL(`../../deploy/${file}`, import.meta.url));
const PROMTOOL = process.env['PROMTOOL'] ?? 'promtool';
const isInstalled = spawnSync(PROMTOOL, ['--version']).status === 0;
const HISTOGRAM = 'http_server_request_duration_seconds';
const KNOWN = new Set([...METRIC_NAMES, ...['bucket', 'count', 'sum'].map((part) => `${HISTOGRAM}_${part}`)]);

/** The names of metrics in a text with expressions. A label can begin with the same word as a metric, so the labels are removed first. */
function metricsIn(text: string): string[] {
  const withoutLabels = text.replaceAll(/\{[^}]*\}|\bby \([^)]*\)|\$labels\.\w+/g, '');
  return [...withoutLabels.matchAll(/\b(?:mercat|http|db|nodejs|v8js|process)_\w+/g)].map(([name]) => name);
}

const { panels } = JSON.parse(readFileSync(pathOf('grafana/mercat.json'), 'utf8')) as { panels: any[] };
const expressions = {
  'the alert rules': readFileSync(pathOf('prometheus/alerts.yml'), 'utf8'),
  'the queries of the dashboard': panels.flatMap(({ targets }) => targets.map(({ expr }: any) => expr)).join('\n'),
};

for (const [file, text] of Object.entries(expressions)) {
  test(`${file} name only metrics that exist`, () => {
    const names = metricsIn(text);
    assert.ok(names.length > 8);
    assert.deepEqual(
      names.filter((name) => !KNOWN.has(name)),
      [],
    );
  });
}

test('each panel of the dashboard has a query and a place of its own', () => {
  const places = new Set(panels.map(({ gridPos: { x, y } }: any) => `${x} ${y}`));
  assert.deepEqual([places.size, new Set(panels.map(({ id }: any) => id)).size], [panels.length, panels.length]);
  for (const { title, targets } of panels) assert.ok(targets.length > 0, title);
});

const skip = isInstalled ? false : 'promtool is not installed';

function runPromtool(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, args, { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
}

test('the alert rules are valid', { skip }, () => {
  runPromtool('check', 'rules', pathOf('prometheus/alerts.yml'));
});

test('each alert fires on the problem that it is for, and no alert fires on a healthy service', { skip }, () => {
  runPromtool('test', 'rules', pathOf('prometheus/alerts.test.yml'));
});
