// Computes the digest by which the program recognises that a migration has changed since it was applied. The digest covers the statements, so
// that a comment can be corrected later. The digests of the first migrations covered the complete text, and databases have recorded them.

import { createHash } from 'node:crypto';
import { OPAQUE_SQL } from './citus.ts';

/** `file`: the schema and the name of the migration, such as `main/0001-store.sql`. Returns hex digits of SHA-256. */
export function digestMigration(file: string, sql: string): string {
  const statements = sha256(withoutComments(sql));
  const first = FIRST_DIGESTS[file];
  return first?.statements === statements ? first.text : statements;
}

/** The beginning of the first line of a contract, a migration that removes or changes something. The program reads this comment (migrate.ts). */
const CONTRACT = '-- Contract: ';

/**
 * Leaves out comments and empty lines. The first line of a contract stays, and so do comments in bodies of functions, which PostgreSQL
 * stores.
 */
function withoutComments(sql: string): string {
  const isComment = (text: string) => text.startsWith('--') && !text.startsWith(CONTRACT);
  const lines = sql.replaceAll(OPAQUE_SQL, (text) => (isComment(text) ? '' : text)).split('\n');
  return lines
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The digests of the first migrations. `text`: of the complete text with its first comments, as databases have recorded it. `statements`: of the
 * statements alone. `digestMigration` returns `text` while the statements are unchanged.
 */
export const FIRST_DIGESTS: Readonly<Record<string, { statements: string; text: string }>> = {
  'main/0001-marketplace.sql': {
    statements: '6991f8e57be9b71e6c515ca5daefd800f2dd8df4ffb69669398265bf53826ad0',
    text: 'fd8fd3003700d97466236ab723632881d6a0eaeaaf7302779e93aee02075217c',
  },
  'main/0002-store.sql': {
    statements: '30042f0d0dc78925bee93695168482ac43c3206dc7d2f0ad0c10fe5e9d61c684',
    text: '8ee1aa016a71cc5a1765c62746c07ba7efa2f5c9f18501f14e1bfea4cb9a613f',
  },
  'main/0003-webhooks.sql': {
    statements: '2086b03a6483ba387716a0928f86fef441431ec8977e90decbc981a075734e3c',
    text: '127cdfaf2012726f40fe5b97a909a46bb0f53dc462e8afa28d99f0d00c1fbaba',
  },
  'main/0004-chains.sql': {
    statements: '866031e042b5661afae1b6d7a082d52051a4cddd7b529531bf7788db1fe3dade',
    text: '25ac1ddeb52ac3a040e475a2b7e5fd9552d46a5f980761bb86a80dd01b1c07a6',
  },
  'main/0005-sync.sql': {
    statements: '396beae48d328c3cbfc7b4ecb323bd5a2b1ac53f9648a734fcc1be96b6504373',
    text: '9d1e57bdae6a1da49baa81ef3465dc3f980c6e4d674ac8a8d62c81817336fa8c',
  },
  'main/0006-keys.sql': {
    statements: '57e2fd8c879e08fa41e9e6d7723d026f301354c6cb0f739d0c137d658840695c',
    text: 'c165da3c159de62a33c2423c8408539c9bb06411c22a39a9ba36329035322e31',
  },
  'main/0007-shown.sql': {
    statements: 'e408897f1e3bd3e9ba8a866d6c78e0646bdcbad2ff96f1ef6666a6be58e36da9',
    text: 'f0de9b4721ac8690890b19106d2031475e750206802554bcbbf60895c4bac89c',
  },
  'main/0008-request-budgets.sql': {
    statements: 'e7afa1efda2321c3dee89946fcd5e40b7c4bfde3d7f4c4fe5fa113b715ed53bc',
    text: '31aa764e79efedf537972f98efdb74a9f5323c7507f906863fab708e16541fa2',
  },
  'main/0009-follow-turns.sql': {
    statements: '10dbde3f0fefaac4f9418f4da737a28f3ffd2fe279162c266f5db8cf93af7092',
    text: '90b3aaa66b76849fe1d39736a449828e8bca74c3f04cede05c25bf6fc12e05ab',
  },
  'main/0010-follow-names.sql': {
    statements: 'fdf4dec79a65b784ebc6fad202c620a5a24760ac3cc246515c8f51a941eece1f',
    text: '9802a975a40da21418088c767e66f07c1b85f1bcdc79d56d991e4c0e60aebedf',
  },
  'main/0011-recent-views.sql': {
    statements: '0cf4cd7c4aaf766a5ca734b454519992837228a40f0e72c54ea4135ceb763737',
    text: '9cc4f7c6edc0815395d860f5c392ecd8d065e31d0657861aa6d1c2d1b19535f1',
  },
  'main/0012-off-chain-cancels.sql': {
    statements: 'cbb0dd9cdaf72539e53a32c4890e9a024a72246c4d18d8c77a3a95fb05986a7b',
    text: '15d990f01594fa65c549818e598b687bdcfc26ad3a7caf479daded57a05bcf8e',
  },
  'main/0013-catalog.sql': {
    statements: 'c3ce474ae56edc2b21f8022f03c734f5d26637a68c94f9a95eab4e1984d6f81c',
    text: '9365741380dbfd76c98f083861f27db73b7ad8d835517bfe9d95beac4bb05c7e',
  },
  'main/0014-evidence.sql': {
    statements: '3921b0df2796616f15c5c9c90f31393edae93702e361510181b52f28090874d4',
    text: 'b8ca4e92ff686c9f9d8f264bcdf3323f8c1c162708af0622c4a61ebfdf75e352',
  },
  'main/0015-opaque-ids.sql': {
    statements: 'a1b2ebbb874aab50ed5db5966d5e3ac6db9d5f84b7bdb8fcfa34da37e44b27fd',
    text: '9e9bb12026d06d391ac66aea00172058f3efa3058e9a5a752b99ec39ae129492',
  },
  'main/0016-tokens-complete.sql': {
    statements: '24ef0dc35cb60b1d3d07a3d292660ada844342d03005ecd3503b8c40d2eed1aa',
    text: '5b2194ba94ba3dbe0237b415e5d028c1ea9f62402632d96c7b1a61617b9a2ff4',
  },
  'main/0017-webhook-positions.sql': {
    statements: '009080acd06837c3c740032b0b0717f0e1f79562b09ffb0a2a5377f848f6071a',
    text: 'f5a106e90fb03ed4349d1fc5ad650ab2fb0353011af904c0a2338e5914282b20',
  },
  'main/0018-imports.sql': {
    statements: 'aa04a8671a892b30923c001c5c379d5cb2574e350e53be30fe5f34df6efd3f09',
    text: 'bc03d27e621ffe9fa2e99c24a87d094eedbeec74ed2ce9c9317f48ac26d21639',
  },
  'main/0019-import-changes-uncompressed.sql': {
    statements: 'd30017df233846bcde773acb71229fd10ab618edc4b5033828a035f8aef29d27',
    text: '8705bb8433406dde1bf0df29170db65ac64c325ef59aa7fcada30640651af7c5',
  },
  'main/0020-wallet-orders.sql': {
    statements: 'd160613bab369c706f50dfa1b1d45e099bc91045ac1616d449c0dfecf50b60a2',
    text: '5a48d16f52c9eb52c694e77af9d722d4bf7b425029bb83ee9784736b8e8d7274',
  },
  'main/0021-protocol-events.sql': {
    statements: '4fe665a83c035e858dab9b6f5fa704451fccd0ac7fad92eb6b394c262a388191',
    text: 'e51b3e8521129e5f9053f304e8d91b4c147f6e09ecabedcacee1976fe0c9c135',
  },
  'main/0022-collection-metadata.sql': {
    statements: '9a99f4d34371c2d3d918b793c79f0aacc8dc9d0921e120c34f2b3e69c031722e',
    text: 'a9e23ecb29cca5463a139f0ea90182e0523bc6cdd3829772d543fb39fa14fc99',
  },
  'main/0023-cancelled-nonce.sql': {
    statements: 'd602f9a82d4b763c4e9344506cb7239322f09485efe5eff367e1dcb49a185e35',
    text: '0d60e9a304da3dc982cd9ae0b7d945ff828cf4a2b98e7377fc3f2a2f5c162aa3',
  },
  'main/0024-activity.sql': {
    statements: '6a20c394fe580ffd1899112dbb21596b87926c1ff2ef1c4839c4aa37413cbdd1',
    text: '6005b799281aea8627a26c3be07eb02b5f270e0453ea35d06d7c74955406126d',
  },
  'main/0025-activity-head.sql': {
    statements: '61c41de59f79078c67f856eb267d6b19f3d962c7dad45e1ed58bf994b5fddcec',
    text: 'b27d02ea275ec10e0ac54a1a142c70fbeae605d3a443de4481edc82cb516687a',
  },
  'main/0026-own-prices.sql': {
    statements: 'b78e580a7a9a24078178e0c762827a6ac6d49d1b5d2382ece832af1e739d018a',
    text: '2229b3685a9e689683bb0bb503dd0881aa7899eccddbb4989e01ce39e1fcb892',
  },
  'main/0027-search.sql': {
    statements: 'bc850a6f5da9ea97d86c010a01ca4693ed488dcaac7de17092a493ddc183955c',
    text: 'ef7ecba0b4662b742f3d6b202229818aa25312b071e365ccae71d75dd15c2383',
  },
  'main/0028-reorg-window.sql': {
    statements: '81e558d3ea00dceb3573e16b51c1e2dd1889082d17f2cfe9bc310eabf3293b2c',
    text: 'b1c1ba9d2e7e6bd25cca0b76121afca2afd49d811da4ed35de21317a3d3cc53c',
  },
  'main/0029-activity-of-wallets.sql': {
    statements: 'd0813cc1f550f894ec716c90301410e038f10fcc393b457d1a8ad26a47d60650',
    text: '1bd0ab9a53348088653290f5fbf5fdb939df4761fc2581a21301218e350ce0ab',
  },
  'main/0030-activity-of-wallets-by-chain.sql': {
    statements: '80d9cd74c00904c374a5e1de57768c88b3578c8e4e921f6e916d69c527595a82',
    text: '982c3ad832bf3acc692e173e6f6be3c5ee307fb6ee9f8b06fa802f81f320878a',
  },
  'indexer/0001-mirror.sql': {
    statements: '6b7fc56d950c1439d1426a4964ad77ec2915f174af159ac1da24bc312deee5e3',
    text: 'ecd430e2d057eef004ff6b8cb97c66a10523dc8757f6cec77ec2319f4ca179bb',
  },
  'indexer/0002-chains.sql': {
    statements: 'd776d8486bf899934f80624dfeef20af377767b53771ce4c6163701187edd329',
    text: '20d7982ca242388619f9bf1acbcdc9ed081e57c91260a35703975bbd354a0b78',
  },
  'indexer/0003-sync.sql': {
    statements: 'ce8da2984dd49e2d664b551d410cdd3c0c1c22f6d5b10ffc74ea6bd65e603480',
    text: '0d2c1f94f1b1998f1d10f43b6cf60bb1d79a6c68fec5b6fbd9e07c3a3811b35a',
  },
  'indexer/0004-figures.sql': {
    statements: '04445b726a762657f5f72438e236f5d2a50ef127271bb9be109300c0465c7cc0',
    text: 'd39c88175ed65828a9ed554ab8d274db491bfa88755ecb114839d4b591a1455e',
  },
  'indexer/0005-judged-listings.sql': {
    statements: 'da8c03426e13e5187c530bc80bb0a771abc545940c4ab2a06a05f88e41d35b04',
    text: '1e0f37da2525461ab57708513b0f9823de56425019eb5ce6bbbceaac0b455af5',
  },
  'indexer/0006-coverage.sql': {
    statements: '92e5de542d97591aeff6e6820d61252b3c07c881a5d53328bf392d2a77a3d299',
    text: '44f4e66d64ce4689b2a834a3ed1f8d9856bf93669a68bcfdbf6cf839b1fc5bf9',
  },
  'indexer/0008-listing-ids.sql': {
    statements: 'bf5dd69e6c462ba9eadda78846c51c5f0954010eab8874ba00ad90ebb96d7c7e',
    text: 'f598a006e5ca7f37c6c90b49c5a01a133abb591e9a1ece82f7647f50f2e0a36b',
  },
  'indexer/0009-listings-without-total.sql': {
    statements: '6ae1e887586e2a09590254b794c1abc6dc6c2a4e50d77de37a1634a5ed180cc7',
    text: '268455dd89313fffd6ce8538093d1138355f1151ab6bf56cfb9384fea2d5b224',
  },
  'indexer/0010-chain-holders.sql': {
    statements: '67db4fa63f4222f5bb470ce13aa2e2df45fa89b4a88f670d179e14a4d728696f',
    text: '12cab937845a9bfaf8a52c81813ddefd15357b1b76f3587f4d3304a2562ce146',
  },
  'indexer/0011-imports.sql': {
    statements: '3198b75994fa5fc10c8bcddff68e7ed067917a7b113851fba766d115ea039d14',
    text: '7ac855eb2bfd8a173d4095a9cbc1246aaba7d2c5c743791ad9f97d8e779aee76',
  },
  'indexer/0012-import-changes-uncompressed.sql': {
    statements: '1e02134963c65fbe32c903067e1ff2d86df67605e61bb63bcacf7e66111dd489',
    text: '8265e6b46f469dd0444d1f52b8d16065f7d5001b8de271c050e1a78538a2e245',
  },
  'indexer/0013-token-lists.sql': {
    statements: '0b579147db5b40d8665271de9a984ebc19f56bc6f0f5379f501e41aa09d053a8',
    text: '77b24dab9d77f5d2a3378a42cba434a985726e4298f669e9666f1da93961a87a',
  },
  'indexer/0014-listing-lookup.sql': {
    statements: '7eb5681d40a79865c60eef51358daff833b5518b5d245300373cb03ed72c342d',
    text: 'e6bf4a22496588c74bcd6add3f1ed6cbbe3a5c559646b20e03cf98b96bb18cab',
  },
  'indexer/0015-metadata.sql': {
    statements: 'cb83268073b0fa3d93fb2d7f4b8e2f76c9954f5bd41887c70a58ec101241e24e',
    text: '81b74e51b0cd13ef525ec64bc611a43799d46702446a7b914da0bcda058db1af',
  },
  'indexer/0016-unranked-tokens.sql': {
    statements: 'f91b64330380b57f4019769470c6e7df15722b2280a4c45353d9cbdf1c997989',
    text: '66434885c6b44617f3e273af0455df60747a3659705f493c4f2143f2c925a225',
  },
  'indexer/0017-activity.sql': {
    statements: 'f9fb6e17ef66548a80e95011b2e9c73ddfbd42c9129c574bc0699a8defbf9d49',
    text: 'c005a4b94b3d5b03f88a185e912bad647d89982976e6ad2fa0d478922f2532e3',
  },
  'indexer/0018-unpriced-sales.sql': {
    statements: '4d9ffdade75cf2370858ab536b08bd16462aafac20610844b4ae9134a77f002b',
    text: '62426bc1695d4588f1f4cae01cf5fae23d43853595d47ad0f9171a27d042d794',
  },
  'indexer/0019-traits.sql': {
    statements: '87f127aa3232defe1213fdd33576db75f81ed0c6c95145a6b5833ac88091cdc5',
    text: '9cfa9c5bf787073b621a30f782de9611253eb516f0801988d0525d01083f10ba',
  },
  'indexer/0020-rarity.sql': {
    statements: 'f6a127d33ad8c6f02b110926ae6089fcdcde656c73cf900be0e8df5372f44aef',
    text: '8555783e322ec439479c8370ecffcc7fbbb4645f3d2b7e09555e303cc1836021',
  },
  'indexer/0021-search.sql': {
    statements: '161bb718d3ee99da91fcabb278a9384544273f1e999e23485a75afce7415be21',
    text: '890120b96c7282f4924ab707cb5eb1f15f3c0392c794be66d407736c4f23e356',
  },
  'indexer/0022-market-history.sql': {
    statements: '654f82f3379c89f4b1f49b16a9513ad1e81796245071d69917aec35932dcc2fa',
    text: '71c84911acc79b5af2cea916b9c35bbd1961f7e84980c9f53c02a0b734f2768e',
  },
  'indexer/0023-search-by-chain.sql': {
    statements: 'be3289e56e16ed9720810e70ad0855fb94979d58f3db4ee8f90374950d2aec01',
    text: '77c0dfb155a5f7bb71c54664a6cf25b50fdfdff22cfce3fe1f4aa2fd49812e55',
  },
  'indexer/0024-listed-traits.sql': {
    statements: '85bff1aa21fa5955ab3ec06754456d191b677ac9a3f36e5a7239ffa9eda31685',
    text: '5a44a90b1cc12be571c75344c9198b1f9c56274b460f73dea85b15aae26d4187',
  },
  'indexer/0025-covering-hours.sql': {
    statements: 'dcc104f1230935700e5bf3bb1468a4a66509d88edcd50101cf0afc1f342d5d5f',
    text: '093cc9a92594780cb1cccfea85f0a1f2f6de0afba0f37c3fcb085ac87e5fe743',
  },
  'indexer/0026-traits-by-collection.sql': {
    statements: '91eac95aa14424765a9efac87603e3db48c7b9e410f184604db426b7d9abbc1d',
    text: '455ec55b4a6977db6540253aaa3f61bb6d35984d2db4ed8dd79afc3ef4bde26e',
  },
  'indexer/0027-collection-keys.sql': {
    statements: '115ecc73c741328454fc61c423911ac7538358791d085ab583bcb86557be4a6b',
    text: 'ffe801197adc05678a7f3592d0586e8b92b066ab1aa3b3d48e329f664114791d',
  },
  'indexer/0028-fewer-entries.sql': {
    statements: '24f941e48b949a9a7507f106925921cbb09e6345019ce7c48ddfd4e78f936517',
    text: 'f72f6279bb1527a2fb925b631790bb2adca2ccc3e2f9b1e9318e72ba5b359e38',
  },
  'indexer/0029-vacuum-of-large-tables.sql': {
    statements: '35c8a57fcd8d31ed99c895c5ca523057cd78045c5fa9833b9bc0cb25d3172741',
    text: '79050fcbeaff9c0ac9e5cab7dce9f043ac99caf624f57e2e6f24459ac9f24403',
  },
  'indexer/0030-traits-by-id.sql': {
    statements: '09f2eb5c877473a7e5e46df09781aa1a853610e84ed6a1214341ef458052cae4',
    text: '93b52bcb07a681a7d370d6eb2fee4cfd99f4ab596cf2ccba54b6ef9ef1a69bd7',
  },
  'indexer/0031-cluster-functions.sql': {
    statements: 'da5aad554953dd24f50b6cccd3897a8d6c62e9c5fe12703463f472e6fb47d7fb',
    text: 'fe01bf832d3a5f61c3664ab7320b070e56d5c5ce384a7d516c4a1806c8cdd854',
  },
  'indexer/0032-fewer-indexes.sql': {
    statements: 'b620a592562d2ffe366b1fa1595cd2acf1e5dfa62fad4360f585683ad549c3e2',
    text: '9a193ca193203a2ace8058db8a34af0540d68be2a58cbd5eb2174cfd6bcf533d',
  },
  'indexer/0033-cluster-locks.sql': {
    statements: 'b5fbce6f301a2fa72409a16d92ca5d42d550b4928b3b6e78bf45350e4f2709aa',
    text: '3f8b457d145e0efb4b53fc48b3b3ee7159c6b2ce270eab4edbf5d2bdcf5617c8',
  },
  'indexer/0034-cluster-locks-by-row.sql': {
    statements: 'd68a278284908e6f94a53f53882a92f85ad26d1fea7a711c7b4c1a3771f4eca2',
    text: 'b3ec186ebc328b3c1caf8e0150f7a243ef89ae4a39f3a724f56e46525add98f6',
  },
  'indexer/0035-cluster-connections.sql': {
    statements: '8471fd2483283886255fb7a81fedf9e50d8e856d783b32bb81c2931f30c1b6c9',
    text: '1eec09e379a2a1a1eaea4ebfc0977b4388dea1a7879e986f2d6ac059d457c906',
  },
};
