// What a key may do. Write scopes do not imply read.

export const STORE_SCOPES = [
  'products:read',
  'products:write',
  'inventory:read',
  'inventory:write',
  'webhooks:read',
  'webhooks:write',
] as const;

export type Scope = (typeof STORE_SCOPES)[number];

export function isScope(text: string): text is Scope {
  return (STORE_SCOPES as readonly string[]).includes(text);
}
