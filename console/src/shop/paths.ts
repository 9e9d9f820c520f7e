// The paths of the shop.

export const productPath = (id: string): string => `/shop/products/${encodeURIComponent(id)}`;

export const webhookPath = (id: string): string => `/shop/webhooks/${encodeURIComponent(id)}`;

/** The log of one product. */
export const logPath = (productId: string): string => `/shop/log?product=${encodeURIComponent(productId)}`;
