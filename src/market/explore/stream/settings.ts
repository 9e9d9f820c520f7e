// The settings of the stream.

import type { SettingTable } from '../../../platform/core/setting.ts';
import { parseInteger } from '../../../platform/core/setting.ts';

export type StreamSettings = {
  /** The most connections to the stream, over all serving processes. */
  streamConnectionsMax: number;
  /** The most connections to the stream that one client address may have, over all serving processes. */
  streamConnectionsPerClient: number;
};

export const STREAM_SETTINGS: SettingTable<StreamSettings> = {
  streamConnectionsMax: {
    name: 'STREAM_CONNECTIONS',
    default: '5000',
    form: 'an integer from 0 to 1000000',
    meaning:
      'The most connections to `/explore/v1/stream` that a process serves at the same time. Each needs a file descriptor, and up to 64 KiB of memory while its client does not read.',
    parse: (text) => parseInteger(text, 0, 1_000_000),
  },
  streamConnectionsPerClient: {
    name: 'STREAM_CONNECTIONS_PER_CLIENT',
    default: '50',
    form: 'an integer from 1 to 1000000',
    meaning: 'The most connections to `/explore/v1/stream` that a process serves to one client address.',
    parse: (text) => parseInteger(text, 1, 1_000_000),
  },
};
