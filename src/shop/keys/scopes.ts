// The scopes of API keys. A write scope does not include the read scope.

export const STORE_SCOPES = [
  'products:read',
  'products:write',
  'inventory:read',
  'inventory:write',
  'webhooks:read',
  'webhooks:write',
] as const;

/**
 * Scopes of the intake interface: `orders:write` for signed orders, `intake:write` for records. A key with only these scopes needs no shop.
 * Without a shop, the key cannot import products.
 */
export const INTAKE_SCOPES = ['orders:write', 'intake:write'] as const;

/** The scope of the public interfaces. They need no key, but a key with this scope has higher rate limits. The key needs no shop. */
export const READ_SCOPE = 'market:read';

export const SCOPES = [...STORE_SCOPES, ...INTAKE_SCOPES, READ_SCOPE] as const;

export type StoreScope = (typeof STORE_SCOPES)[number];
export type IntakeScope = (typeof INTAKE_SCOPES)[number];
export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** Whether the scope belongs to the store interface. A key with such a scope must belong to a shop. */
export function needsShop(scope: string): boolean {
  return (STORE_SCOPES as readonly string[]).includes(scope);
}
