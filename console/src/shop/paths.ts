// The paths of the console's pages about the shop.

export const productPath = (id: string): string => `/shop/products/${encodeURIComponent(id)}`;

/** The list of the variants of one product. */
export const groupPath = (groupId: string): string => `/shop/products?group=${encodeURIComponent(groupId)}`;

export const reservationPath = (id: string): string => `/shop/reservations/${encodeURIComponent(id)}`;

export const webhookPath = (id: string): string => `/shop/webhooks/${encodeURIComponent(id)}`;

/** The page with the stock log of one product. */
export const logPath = (productId: string): string => `/shop/log?product=${encodeURIComponent(productId)}`;
