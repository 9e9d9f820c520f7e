// The settings of OpenTelemetry. Names, forms and defaults are those of the OpenTelemetry specification, except that nothing is sent unless an
// endpoint is set.

import type { SettingTable } from '../../platform/core/setting.ts';
import { parseHttpUrl, parseInteger } from '../../platform/core/setting.ts';
import type { SamplerName } from './sampler.ts';
import { SAMPLER_NAMES } from './sampler.ts';

export type TelemetrySettings = {
  /** Without a trailing slash. Null: nothing is exported. */
  otlpEndpoint: string | null;
  otlpHeaders: Readonly<Record<string, string>>;
  /** Null: `service.name` of the resource attributes, or else the name of the service. */
  telemetryServiceName: string | null;
  resourceAttributes: Readonly<Record<string, string>>;
  sampler: SamplerName;
  /** From 0 to 1. */
  samplerRatio: number;
  tracesExporter: Exporter;
  metricsExporter: Exporter;
  metricExportIntervalMs: number;
};

type Exporter = 'otlp' | 'none';

export const TELEMETRY_SETTINGS: SettingTable<TelemetrySettings> = {
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: '',
    form: 'an http or https URL without user, query and fragment',
    meaning:
      'A receiver of OpenTelemetry data, such as `http://127.0.0.1:4318`. Traces are sent to `/v1/traces` and metrics to `/v1/metrics` below this URL, as OTLP over HTTP with JSON. Empty: nothing is sent.',
    secret: true,
    parse: (text) => (text === '' ? null : parseHttpUrl(text)),
  },
  otlpHeaders: {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    default: '',
    form: 'name=value, comma-separated, with percent-encoded values',
    meaning: 'Headers of the requests to the OpenTelemetry receiver, such as a key.',
    secret: true,
    parse: parseHeaders,
  },
  telemetryServiceName: {
    name: 'OTEL_SERVICE_NAME',
    default: '',
    form: 'at most 255 characters',
    meaning:
      'The `service.name` of traces and metrics. Empty: `service.name` of `OTEL_RESOURCE_ATTRIBUTES`, or else `SERVICE_NAME`.',
    parse: (text) => (text === '' ? null : text.length <= TEXT_LENGTH_MAX ? text : undefined),
  },
  resourceAttributes: {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    default: '',
    form: 'name=value, comma-separated, with percent-encoded values',
    meaning: 'Attributes of this process in traces and metrics, such as `deployment.environment.name=production`.',
    parse: (text) => parsePairs(text, /^[\w.-]{1,255}$/, /^[^\0]{0,255}$/),
  },
  sampler: {
    name: 'OTEL_TRACES_SAMPLER',
    default: 'parentbased_always_on',
    form: `one of ${SAMPLER_NAMES.join(', ')}`,
    meaning:
      'Which traces are sent. If a request has a `traceparent` header, a sampler with `parentbased` follows the decision in the header. Choose a sampler without `parentbased` if clients must not decide.',
    parse: (text) => SAMPLER_NAMES.find((name) => name === text),
  },
  samplerRatio: {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    default: '1',
    form: 'a number from 0 to 1',
    meaning: 'The share of traces that a sampler with `traceidratio` sends.',
    parse: (text) => (/^(?:0|1|[01]?\.\d{1,9}|1\.0{1,9})$/.test(text) && Number(text) <= 1 ? Number(text) : undefined),
  },
  tracesExporter: {
    name: 'OTEL_TRACES_EXPORTER',
    default: 'otlp',
    form: 'otlp or none',
    meaning: '`none`: no traces are sent to the OpenTelemetry receiver.',
    parse: parseExporter,
  },
  metricsExporter: {
    name: 'OTEL_METRICS_EXPORTER',
    default: 'otlp',
    form: 'otlp or none',
    meaning: '`none`: no metrics are sent to the OpenTelemetry receiver.',
    parse: parseExporter,
  },
  metricExportIntervalMs: {
    name: 'OTEL_METRIC_EXPORT_INTERVAL',
    default: '60000',
    form: 'an integer from 1000 to 3600000',
    meaning: 'The time between two exports of metrics, in milliseconds.',
    parse: (text) => parseInteger(text, 1_000, 3_600_000),
  },
};

const TEXT_LENGTH_MAX = 255;

function parseExporter(text: string): Exporter | undefined {
  return text === 'otlp' || text === 'none' ? text : undefined;
}

function parseHeaders(text: string): Record<string, string> | undefined {
  return parsePairs(text, /^[\w!#$%&'*+.^`|~-]{1,255}$/, /^[\x20-\x7e]{0,4096}$/);
}

/** Undefined if a name or a decoded value does not match its pattern. */
function parsePairs(text: string, name: RegExp, value: RegExp): Record<string, string> | undefined {
  const pairs: [string, string][] = [];
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const split = part.indexOf('=');
    const key = part.slice(0, Math.max(0, split)).trim();
    const decoded = decode(part.slice(split + 1).trim());
    if (!name.test(key) || decoded === null || !value.test(decoded)) return undefined;
    pairs.push([key, decoded]);
  }
  return Object.fromEntries(pairs);
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
