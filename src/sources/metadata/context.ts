// The dependencies of the code that reads metadata.

import type { ChainContext } from '../chains/context.ts';
import type { ChainReader } from '../chains/rpc/chain-reader.ts';
import type { Follow } from '../../market/follows/queries/follows.ts';
import type { MetadataSettings } from './settings.ts';

export type MetadataContext = Omit<ChainContext, 'config'> & { config: MetadataSettings };

/** A followed collection, with the reader of its chain. */
export type ReadCollection = { follow: Follow; reader: ChainReader };
