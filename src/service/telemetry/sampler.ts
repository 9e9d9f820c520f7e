// Decides at the beginning of a trace whether the trace is exported. The samplers have the names of the OpenTelemetry specification.

export const SAMPLER_NAMES = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof SAMPLER_NAMES)[number];

/** `isParentSampled` is null for a trace that begins in this process. */
export type Sampler = (traceId: string, isParentSampled: boolean | null) => boolean;

const PARENT_BASED = 'parentbased_';

export function createSampler(name: SamplerName, ratio: number): Sampler {
  const root = createRootSampler(name.replace(PARENT_BASED, ''), ratio);
  if (!name.startsWith(PARENT_BASED)) return root;
  return (traceId, isParentSampled) => isParentSampled ?? root(traceId);
}

/**
 * The last 56 bits of a trace id are random (W3C Trace Context, level 2). The decision depends only on these bits and on the ratio, so all
 * processes with the same ratio make the same decision about a trace.
 */
const RANDOM_DIGITS = 14;

function createRootSampler(name: string, ratio: number): (traceId: string) => boolean {
  if (name === 'always_on') return () => true;
  if (name === 'always_off') return () => false;
  const limit = BigInt(Math.round(ratio * 2 ** 53)) * 8n;
  return (traceId) => BigInt(`0x${traceId.slice(-RANDOM_DIGITS)}`) < limit;
}
