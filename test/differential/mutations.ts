// Ways to break each protocol on purpose: in the price, in a party, and in the token or the marketplace. mutate.ts applies them one at a time, and
// sees the comparison with the independent decoder fail.

/** Replaces the first `text` of the file by `broken`. */
export type Mutation = { kind: 'price' | 'party' | 'token or marketplace'; text: string; broken: string };

type Change = [text: string, broken: string];

function ways(price: Change, party: Change, token: Change): Mutation[] {
  const kinds = { price, party, 'token or marketplace': token };
  return Object.entries(kinds).map(([kind, [text, broken]]) => ({ kind: kind as Mutation['kind'], text, broken }));
}

/** By the file in src/sources/chains/protocols. A file that only lists contracts is broken in what it lists. */
export const MUTATIONS: Readonly<Record<string, readonly Mutation[]>> = {
  seaport: ways(
    ['amount: bigintAt(data, word + 3)', 'amount: bigintAt(data, word + 3) + 1n'],
    ['offerer: topicAddress(topics, 1),\n    zone', 'offerer: topicAddress(topics, 2),\n    zone'],
    ['token: ALIASES.get(token) ?? token', 'token'],
  ),
  'seaport-forks': ways(
    ['decoders: SEAPORT.decoders', 'decoders: new Map([...SEAPORT.decoders].toReversed().slice(0, 1))'],
    [
      "ethereum: '0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a'",
      "ethereum: '0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3b'",
    ],
    ['SLUGS.get(protocol) ?? null', "SLUGS.get(protocol)?.replace('mooar', 'alienswap') ?? null"],
  ),
  'blur-v1': ways(
    ['price: 7 }', 'price: 8 }'],
    ['buyer: addressAt(buy, ORDER.trader)', 'buyer: addressAt(sell, ORDER.trader)'],
    ['tokenId: 4', 'tokenId: 5'],
  ),
  'blur-v2': ways(
    ['isBid ? rates.maker : rates.taker', 'isBid ? rates.taker : rates.maker'],
    ['seller: isBid ? (other ?? ZERO_ADDRESS) : trader', 'seller: isBid ? trader : (other ?? ZERO_ADDRESS)'],
    ['tokenWord.slice(0, 22)', 'tokenWord.slice(0, 24)'],
  ),
  blend: ways(
    ['price: 2 }', 'price: 3 }'],
    ['seller: addressAt(data, 3), buyer: addressAt(data, 2)', 'seller: addressAt(data, 2), buyer: addressAt(data, 3)'],
    ["findMarketplace: () => 'blur'", "findMarketplace: () => 'blend'"],
  ),
  'looksrare-v1': ways(
    ['price: bigintAt(data, 6)', 'price: bigintAt(data, 5)'],
    ['seller: isBid ? taker : maker', 'seller: isBid ? maker : taker'],
    ['contract: addressAt(data, 3)', 'contract: addressAt(data, 2)'],
  ),
  'looksrare-v2': ways(
    ['bigintAt(data, AMOUNTS_AT) + bigintAt(data, AMOUNTS_AT + 1)', 'bigintAt(data, AMOUNTS_AT)'],
    ['isBid ? 3 : SELLER_RECIPIENT_AT', 'isBid ? 4 : SELLER_RECIPIENT_AT'],
    [
      "'0x9aaa45d6db2ef74ead0751ea9113263d1dec1b50cea05f0ca2002cb8063564a4'",
      "'0x9aaa45d6db2ef74ead0751ea9113263d1dec1b50cea05f0ca2002cb8063564a5'",
    ],
  ),
  x2y2: ways(
    ['price: price - (price * rebateOf(settlement, buyer)) / FEE_UNIT', 'price'],
    ['seller: isBid ? taker : maker', 'seller: maker'],
    ["if (mask === '0x' || replacement === '0x') return data", 'if (mask !== replacement) return data'],
  ),
  cryptopunks: ways(
    ['const price = bigintAt(data, 0);\n  const isBid', 'const price = bigintAt(data, 0) / 2n;\n  const isBid'],
    [
      'topicAddress(topics, 2), topicAddress(topics, 3)];\n  const price',
      'topicAddress(topics, 3), topicAddress(topics, 2)];\n  const price',
    ],
    ["findMarketplace: () => 'larvalabs'", "findMarketplace: () => 'cryptopunks'"],
  ),
  wyvern: ways(
    ['bigintAt(data, 2)', 'bigintAt(data, 1)'],
    ['seller: first.from', 'seller: first.to'],
    ["'0x7be8076f4ea4a4ad08075c2508e481d6c946d12b'", "'0x7be8076f4ea4a4ad08075c2508e481d6c946d12c'"],
  ),
  foundation: ways(
    [
      'price: bigintAt(data, 1) + bigintAt(data, 2) + bigintAt(data, 3)',
      'price: bigintAt(data, 2) + bigintAt(data, 3)',
    ],
    ['seller: isBid ? taker : maker', 'seller: maker'],
    ['from === address && to === buyer', 'to === buyer && from !== address'],
  ),
  'zora-v1': ways(
    ['findBidOnMarket(token, address, logsOf) ?? received', 'received'],
    ['buyer: addressAt(data, 2)', 'buyer: addressAt(data, 1)'],
    ["'0xabefbc9fd2f806065b4f3c237d4b59d9a97bcac7'", "'0xabefbc9fd2f806065b4f3c237d4b59d9a97bcac8'"],
  ),
  'zora-v3': ways(
    ['auctionEnded(6)', 'auctionEnded(7)'],
    ['buyer: topicAddress(topics, 3)', 'buyer: addressAt(data, 0)'],
    ['bigintOfWord(topicWord(topics, 2))', 'bigintOfWord(topicWord(topics, 1))'],
  ),
  'rarible-v2': ways(
    ['price: isBid ? rightReceived : leftReceived', 'price: isBid ? leftReceived : rightReceived'],
    ['seller: isBid ? rightMaker : leftMaker', 'seller: isBid ? leftMaker : rightMaker'],
    ["erc1155: '973bb640'", "erc1155: '973bb641'"],
  ),
  'zeroex-v4': ways(
    ['price: bigintAt(data, 5)', 'price: bigintAt(data, 3)'],
    ['buyer: isBid ? maker : other', 'buyer: isBid ? other : maker'],
    ['tokenId: bigintAt(data, 7)', 'tokenId: bigintAt(data, 8)'],
  ),
  'payment-processor': ways(
    ['listAt(hasQuantity ? 5 : 4)', 'listAt(4)'],
    ['topicAddress(topics, isBid ? 1 : 2)', 'topicAddress(topics, isBid ? 2 : 1)'],
    [
      "const V3 = '0x9a1d00000000fc540e2000560054812452eb5366'",
      "const V3 = '0x9a1d00000000fc540e2000560054812452eb5367'",
    ],
  ),
  sudoswap: ways(
    ['price: bigintAt(swap.log.data, 0)', 'price: bigintAt(swap.log.data, 1)'],
    ['{ seller: last.from, buyer: last.to } :', '{ seller: last.to, buyer: last.from } :'],
    [
      "getter: 'erc1155ETHTemplate()', bytes: 93, tokenIdAt: 61",
      "getter: 'erc1155ETHTemplate()', bytes: 93, tokenIdAt: 62",
    ],
  ),
  element: ways(
    ['return withFee(fill, fees)', 'return fill'],
    ['buyer: isBid ? maker : taker', 'buyer: isBid ? taker : maker'],
    ['ERC1155: Layout = { ...ERC721, quantity: 9 }', 'ERC1155: Layout = { ...ERC721, token: 8, quantity: 9 }'],
  ),
  'rarible-v1': ways(
    ['(demandedInOrder * exchanged) / offeredInOrder', 'demandedInOrder'],
    ['seller: isBid ? taker : maker', 'seller: isBid ? maker : taker'],
    ['contract: addressAt(data, 2), tokenId', 'contract: addressAt(data, 1), tokenId'],
  ),
  superrare: ways(
    ['bigintAt(data, hasCurrency ? 2 : 1)', 'bigintAt(data, 1)'],
    ['seller: topicAddress(topics, 3)', 'seller: topicAddress(topics, 2)'],
    ["'0x2947f98c42597966a0ec25e92843c09ac17fbaa7'", "'0x2947f98c42597966a0ec25e92843c09ac17fbaa8'"],
  ),
  nftx: ways(
    ['bigintAt(data, 2) + bigintAt(data, 4) + bigintAt(data, 5)', 'bigintAt(data, 2)'],
    ['seller: first.from, buyer: first.to', 'seller: first.to, buyer: first.from'],
    ['ids.has(BigInt(tokenId))', '!ids.has(BigInt(tokenId))'],
  ),
  manifold: ways(
    ['value >= price', 'value > price'],
    ['[addressAt(data, 1), bigintAt(data, 3)]', '[addressAt(data, 0), bigintAt(data, 3)]'],
    ['(from === log.address || from === ZERO_ADDRESS)', 'from === log.address'],
  ),
  nouns: ways(
    ['[addressAt(data, 0), bigintAt(data, 1)]', '[addressAt(data, 0), bigintAt(data, 0)]'],
    ['seller: address', 'seller: winner'],
    ["protocol === LIL_NOUNS ? 'lil-nouns' : 'nouns'", "protocol === '' ? 'lil-nouns' : 'nouns'"],
  ),
};

/** Ways to break what the protocols share. By the file, relative to src/sources/chains/protocols. */
export const SHARED_MUTATIONS: Readonly<Record<string, readonly Mutation[]>> = {
  'market-fill': ways(
    [
      'return withPayment(fill, (payment) => ({ ...payment, amount: payment.amount + fee }))',
      'return fee > 0n ? fill : fill',
    ],
    ['{ offerer: buyer, recipient: seller, offer: [payment]', '{ offerer: buyer, recipient: buyer, offer: [payment]'],
    ['amount: quantity }', 'amount: 1n }'],
  ),
  'token-standards': ways(
    ['quantity: bigintAt(data, 1)', 'quantity: 1n'],
    [
      'from: topicAddress(topics, 1),\n    to: topicAddress(topics, 2)',
      'from: topicAddress(topics, 2),\n    to: topicAddress(topics, 1)',
    ],
    ['before.slice(previous + 1)', 'before.slice(previous + 2)'],
  ),
  'pool-events': ways(
    ['currency: currencyAt === null ? ZERO_ADDRESS : addressAt(currencyAt)', 'currency: ZERO_ADDRESS'],
    ['const COLLECTION_AT = 2 * ADDRESS_BYTES', 'const COLLECTION_AT = ADDRESS_BYTES'],
    ['BigInt(`0x${facts.slice(2 * tokenIdAt,', 'BigInt(`0x0${facts.slice(2 * tokenIdAt + 2,'],
  ),
  '../sales': ways(
    ['toFillPrice(bid ?? trade, wrappedNative)', 'toFillPrice(trade, wrappedNative)'],
    ['{ seller: fill.offerer, buyer: counterparty }', '{ seller: counterparty, buyer: fill.offerer }'],
    ['first === undefined || others.length > 0', 'first === undefined || others.length > 1'],
  ),
  '../sale-parties': ways(
    ['quantityOf(received) === quantityOf(sent)', 'received.length === 0'],
    ['first !== fill.sender ? seller : first', 'first !== null ? seller : first'],
    ['if (other.asset !== null || asset === null) return', 'if (other.asset !== asset || asset !== null) return'],
  ),
  '../transaction-facts': ways(
    ['protocol.readCallData?.(fill, callData, value === null ? null : BigInt(value)) ?? fill', 'fill'],
    ['...(sender !== null && { sender })', '...(sender === null && { sender })'],
    ['slice(-TAG_DIGITS)', 'slice(0, TAG_DIGITS)'],
  ),
  '../pool-sales': ways(
    ['logIndex > after && logIndex < log.logIndex', 'logIndex > after'],
    ['previous?.tx === log.tx ? previous.logIndex : -1', '-1'],
    ['times > 0 ? [key', 'times > 9 ? [key'],
  ),
};
