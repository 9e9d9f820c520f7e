// The paths of the console's pages about the shop.

export const productPath = (id: string): string => `/shop/products/${encodeURIComponent(id)}`;

export const webhookPath = (id: string): string => `/shop/webhooks/${encodeURIComponent(id)}`;

/** The page with the stock log of one product. */
export const logPath = (productId: string): string => `/shop/log?product=${encodeURIComponent(productId)}`;
