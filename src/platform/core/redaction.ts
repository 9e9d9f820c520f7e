// Removes secrets from text that is written to a log. Secrets are recognised by their form, because they may stand in any field or message.
// No pattern begins with a word boundary, because a letter, a digit or an underscore may stand directly before a secret.

const SECRETS: readonly [pattern: RegExp, replacement: string][] = [
  // The user and password of a URL.
  [/(\w:\/\/)[^\s/"@]{1,500}@/g, '$1…@'],
  // An API key, and the secret of a webhook. The first part of a key is not secret.
  [/([a-z\d]{2,16}_live_)[A-Za-z\d]{8,100}/g, '$1…'],
  [/whsec_[\w+/=-]{8,500}/g, 'whsec_…'],
  [/(Bearer|Basic)\s+[^\s"\\]{1,1000}/gi, '$1 …'],
];

export function redact(text: string): string {
  return SECRETS.reduce((redacted, [pattern, replacement]) => redacted.replace(pattern, replacement), text);
}
