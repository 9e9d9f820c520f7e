// The numbers that Seaport's contracts use for types of items and types of orders.
// https://github.com/ProjectOpenSea/seaport-types, ConsiderationEnums.sol

export const ITEM_TYPE = { native: 0, erc20: 1, erc721: 2, erc1155: 3, erc721Criteria: 4, erc1155Criteria: 5 } as const;

/** Orders of an open type can be filled by anyone. Orders of a partial type can be filled some units at a time. */
export const ORDER_TYPE = {
  fullOpen: 0,
  partialOpen: 1,
  fullRestricted: 2,
  partialRestricted: 3,
  contract: 4,
} as const;

/** False for a payment, and for a criteria item, which several tokens can satisfy. */
export function isTokenItem({ itemType }: { itemType: number }): boolean {
  return itemType === ITEM_TYPE.erc721 || itemType === ITEM_TYPE.erc1155;
}

/** Whether several tokens can satisfy the item. */
export function isCriterion({ itemType }: { itemType: number }): boolean {
  return itemType === ITEM_TYPE.erc721Criteria || itemType === ITEM_TYPE.erc1155Criteria;
}

export function isPayment({ itemType }: { itemType: number }): boolean {
  return itemType === ITEM_TYPE.native || itemType === ITEM_TYPE.erc20;
}

export function isPartialOrder(orderType: number): boolean {
  return orderType === ORDER_TYPE.partialOpen || orderType === ORDER_TYPE.partialRestricted;
}
