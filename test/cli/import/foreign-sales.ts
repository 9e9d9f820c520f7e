// Files of sales as other programs export them, with made-up values.

/**
 * `edit`: a field that the user must supply, because the file does not contain it. `sale`: the first row as `--explain` prints it.
 * `notes.matching`: a pattern that the notes of `--explain` must match. `notes.refused`: how many rows are refused because they are not sales.
 */
export type ForeignSales = {
  title: string;
  header: string;
  rows: readonly string[];
  edit: Readonly<Record<string, string>>;
  sale: string;
  notes: { matching?: RegExp; refused?: number };
};

const CONTRACT = `0x${'c1'.repeat(20)}`;
const SELLER = `0x${'a1'.repeat(20)}`;
const BUYER = `0x${'b2'.repeat(20)}`;
const ETH = `0x${'0'.repeat(40)}`;
const hash = (digit: number) => `0x${String(digit).repeat(64)}`;
const MINT = '3kxh9JnBdktEyJDopKFnwzg3yaFQT1kbR8BoyvvPuAAy';
const COLLECTION = '6XxjKYFbcndh2gDcsUrmZgVEsoDxXMnfsaGY6fpTJzNr';
const WALLET = 'So11111111111111111111111111111111111111112';
const SIGNATURE = '5h6xBEauJ3PK6SWCZ1PGjBvj8vDdWG3KpwATGy1ARAXFSDwt8GFXM7W5Ncn16wmqokgpiKRLuS83KUxyZyv2sUYv';

/** The first row as `--explain` prints it. */
function sold(amount: string, raw: string, time: string, source = 'import'): string {
  return `sale of 700 of ${CONTRACT} on ethereum for ${amount} (${raw} base units), ${time} UTC, from ${SELLER}, to ${BUYER}, source ${source}`;
}

const HALF = ['0.5 ETH', '500000000000000000'] as const;
const GIVEN = { contractAddress: CONTRACT };

export const FOREIGN_SALES: readonly ForeignSales[] = [
  {
    title: 'the table nft.trades of Dune',
    header:
      'blockchain,project,version,block_date,block_time,nft_token_id,collection,amount_usd,token_standard,number_of_items,evt_type,seller,buyer,amount_original,amount_raw,currency_symbol,currency_contract,nft_contract_address,aggregator_name,tx_hash,block_number,tx_from,tx_to',
    rows: [700, 713].map(
      (id, index) =>
        `ethereum,opensea,seaport-1.5,2023-01-14,2023-01-14 10:34:11.000 UTC,${id},Wolves,700.5,erc721,1,Trade,${SELLER},${BUYER},0.5,500000000000000000,${index === 0 ? 'ETH' : 'WETH'},${ETH},${CONTRACT},,${hash(index)},16400001,${BUYER},${ETH}`,
    ),
    edit: {},
    sale: sold(...HALF, '2023-01-14 10:34:11', 'opensea'),
    notes: {},
  },
  {
    title: 'events of OpenSea as a data frame flattens them',
    header:
      'event_type,order_hash,chain,protocol_address,closing_date,nft.identifier,nft.collection,nft.contract,nft.token_standard,nft.name,nft.image_url,quantity,seller,buyer,payment.quantity,payment.token_address,payment.decimals,payment.symbol,transaction,event_timestamp',
    rows: [700, 713].map(
      (id, index) =>
        `sale,${hash(8)},ethereum,${ETH},1700300000,${id},wolves,${CONTRACT},erc721,Wolf #${id},https://example.com/${id}.png,1,${SELLER},${BUYER},500000000000000000,${ETH},18,ETH,${hash(index)},1700300000`,
    ),
    edit: {},
    sale: sold(...HALF, '2023-11-18 09:33:20'),
    notes: {},
  },
  {
    title: 'trades of Etherscan',
    header:
      '"Txn Hash","Blockno","UnixTimestamp","Date Time (UTC)","Action","Seller","Buyer","NFT","Contract Address","Token ID","Type","Quantity","Price","Market"',
    rows: [700, 713].map(
      (id, index) =>
        `"${hash(index)}","16400001","1673692451","2023-01-14 10:34:11","Bought","${SELLER}","${BUYER}","Wolves","${CONTRACT}","${id}","ERC-721","1","0.5 ETH ($1,234.56)","OpenSea"`,
    ),
    edit: {},
    sale: sold(...HALF, '2023-01-14 10:34:11', 'opensea'),
    notes: { matching: /does not name a chain, so it is ethereum/ },
  },
  {
    title: 'the table ez_nft_sales of Flipside',
    header:
      'BLOCK_NUMBER,BLOCK_TIMESTAMP,TX_HASH,EVENT_TYPE,PLATFORM_ADDRESS,PLATFORM_NAME,SELLER_ADDRESS,BUYER_ADDRESS,NFT_ADDRESS,PROJECT_NAME,ERC1155_VALUE,TOKENID,CURRENCY_SYMBOL,CURRENCY_ADDRESS,PRICE,PRICE_USD,TOTAL_FEES,INSERTED_TIMESTAMP',
    rows: [700, 713].map(
      (id, index) =>
        `16400001,2023-01-14 10:34:11.000,${hash(index)},sale,${ETH},opensea,${SELLER},${BUYER},${CONTRACT},wolves,,${id},ETH,ETH,0.5,700.5,0.02,2023-02-01 00:00:00.000`,
    ),
    edit: {},
    sale: sold(...HALF, '2023-01-14 10:34:11', 'opensea'),
    notes: {},
  },
  {
    title: 'sales of Reservoir as a data frame flattens them',
    header:
      'id,saleId,token.contract,token.tokenId,token.name,token.collection.id,orderSource,orderSide,orderId,from,to,amount,fillSource,block,txHash,logIndex,batchIndex,timestamp,price.currency.contract,price.currency.symbol,price.currency.decimals,price.amount.raw,price.amount.decimal,price.amount.usd,price.amount.native,createdAt,updatedAt',
    rows: [700, 713].map(
      (id, index) =>
        `1,2,${CONTRACT},${id},Wolf,${CONTRACT},opensea.io,ask,${hash(8)},${SELLER},${BUYER},1,opensea.io,16400001,${hash(index)},${index},1,1673692451,${ETH},ETH,18,500000000000000000,0.5,700.5,0.5,2023-01-14T10:35:11.123Z,2023-01-14T10:35:11.123Z`,
    ),
    edit: {},
    sale: sold(...HALF, '2023-01-14 10:34:11', 'opensea'),
    notes: {},
  },
  {
    title: 'transactions of NFTGo',
    header:
      'blockchain,collection_name,contract_address,token_id,token_name,event_type,event_time,from_address,to_address,exchange,tx_hash,tx_url,quantity,price.value,price.crypto_price_symbol,price.usd,price.token_contract_address',
    rows: [700, 713].map(
      (id, index) =>
        `ETH,Wolves,${CONTRACT},${id},Wolf,Sale,1673692451000,${SELLER},${BUYER},Blur,${hash(index)},https://etherscan.io/tx/1,1,0.5,ETH,700.5,${ETH}`,
    ),
    edit: {},
    sale: sold(...HALF, '2023-01-14 10:34:11', 'blur'),
    notes: {},
  },
  {
    title: 'activities of Magic Eden, among which are listings and bids',
    header:
      'signature,type,source,tokenMint,image,collection,collectionSymbol,slot,blockTime,buyer,buyerReferral,seller,sellerReferral,price',
    rows: [`buyNow`, 'list', 'bid'].map(
      (type) =>
        `${SIGNATURE},${type},magiceden_v2,${MINT},https://example.com/1.png,lanterns,lanterns,170000001,1673692451,${type === 'list' ? '' : WALLET},,${COLLECTION},,1.5`,
    ),
    edit: { contractAddress: COLLECTION },
    sale: `sale of ${MINT} of ${COLLECTION} on solana for 1.5 SOL (1500000000 base units), 2023-01-14 10:34:11 UTC, from ${COLLECTION}, to ${WALLET}, source magic-eden`,
    notes: { matching: /rows with list, bid in the column "type" are not sales, and are refused/, refused: 2 },
  },
  {
    title: 'a German sheet with semicolons and decimal commas',
    header: 'Datum;Token-Nr.;Preis (ETH);Verkäufer;Käufer;Marktplatz;Transaktion',
    rows: [
      `14.01.2023 10:34;700;1.234,5;${SELLER};${BUYER};OpenSea;${hash(1)}`,
      `1.2.2023 9:05;713;0,500;${SELLER};${BUYER};OpenSea;${hash(2)}`,
    ],
    edit: GIVEN,
    sale: sold('1234.5 ETH', '1234500000000000000000', '2023-01-14 10:34:00', 'opensea'),
    notes: {},
  },
  {
    title: 'a spreadsheet with dates as numbers',
    header: 'Date,Token ID,Price (ETH),Seller,Buyer',
    rows: [`44940.4404050926,700,0.5,${SELLER},${BUYER}`, `44941,713,1,${SELLER},${BUYER}`],
    edit: GIVEN,
    sale: sold(...HALF, '2023-01-14 10:34:11'),
    notes: { matching: /the numbers in the column "Date" are read as days of a spreadsheet, in UTC/ },
  },
  {
    title: 'prices in USD and ETH, and American dates',
    header: 'Sale Date,Token,Price USD,Price ETH,From,To,Tx Hash',
    rows: [
      `1/14/2023,#700,"$1,234.56",0.5,${SELLER},${BUYER},${hash(1)}`,
      `2/3/2023,#713,$700.00,0.4,${SELLER},${BUYER},${hash(2)}`,
    ],
    edit: GIVEN,
    sale: sold(...HALF, '2023-01-14 00:00:00'),
    notes: {},
  },
  {
    title: 'sales with prices in USD alone are kept, and not served',
    header: 'Sale Date,Token,Price USD,From,To,Tx Hash',
    rows: [
      `2023-01-14,#700,"$1,234.56",${SELLER},${BUYER},${hash(1)}`,
      `2023-01-15,#713,$700,${SELLER},${BUYER},${hash(2)}`,
    ],
    edit: GIVEN,
    sale: sold('1234.56 USD', '', '2023-01-14 00:00:00').replace('( base units)', '(not served by /v1)'),
    notes: { matching: /the file has prices in USD only; such sales are kept but not served by \/v1/ },
  },
];
