// Says why Redis cannot be used, without addresses and secrets. The original error is not repeated, because it may quote what was sent.

/** `message` may be shown to anyone. In the message, "it" is the Redis server. */
export class RedisFailure extends Error {
  override readonly name = 'RedisFailure';
}

export const NOT_IN_TIME = 'it does not respond in time';
export const SCRIPT_NOT_LOADED = 'it has not loaded the script';

/** Messages for error replies, by a pattern of the reply. The reply to a failed script has the error code inside its text. */
const REPLIES: readonly (readonly [RegExp, string])[] = [
  [/^NOSCRIPT\b/, SCRIPT_NOT_LOADED],
  [/\bWRONGPASS\b|invalid password/, 'it rejects the user or password'],
  [/\bNOAUTH\b/, 'it requires a password'],
  [/^ERR AUTH\b.*without any password/, 'it has no password, but a password was sent'],
  [/\bNOPERM\b|can't run this command/, 'the user lacks the permission for a command'],
  [/\bOOM\b/, 'its memory is full'],
  [/\bREADONLY\b/, 'it is a read-only replica'],
  [/\bLOADING\b/, 'it is loading its data'],
  [/\bMISCONF\b/, 'it accepts no writes (MISCONF)'],
  [/\bMASTERDOWN\b/, 'it is a replica without a connection to its primary (MASTERDOWN)'],
  [/\bNOREPLICAS\b/, 'it has too few replicas to accept writes (NOREPLICAS)'],
  [/^(MOVED|ASK|CLUSTERDOWN|CROSSSLOT)\b/, 'it is a node of a cluster'],
  [/DB index/, 'it has no database of that number'],
];

export function toRedisFailure(error: unknown): RedisFailure {
  if (error instanceof RedisFailure) return error;
  const { message = '', code } = error as { message?: string; code?: unknown };
  const [, known] = REPLIES.find(([pattern]) => pattern.test(message)) ?? [];
  if (known !== undefined) return new RedisFailure(known);
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return new RedisFailure(code);
  if (/timeout/i.test(message)) return new RedisFailure(NOT_IN_TIME);
  if (/closed/i.test(message)) return new RedisFailure('it has closed the connection');
  const [, replyCode] = /^([A-Z]{2,30}) /.exec(message) ?? [];
  return new RedisFailure(replyCode === undefined ? 'the connection failed' : `it replies ${replyCode}`);
}
