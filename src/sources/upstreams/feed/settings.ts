// The settings of the operator's own feed.

import type { SettingTable } from '../../../platform/core/setting.ts';
import { keySetting, secretUrlSetting } from '../../../platform/core/setting.ts';

export type FeedSettings = {
  /** Null: there is no feed. */
  url: string | null;
  token: string | null;
};

export type FeedAccess = FeedSettings & { url: string };

export const FEED_SETTINGS: SettingTable<FeedSettings> = {
  url: secretUrlSetting({
    name: 'FEED_URL',
    meaning: 'A feed of records of your own (newline-delimited JSON, docs/records.md), read about every two minutes.',
  }),
  token: keySetting({
    name: 'FEED_TOKEN',
    form: 'a token',
    meaning: 'Sent to the feed as a bearer token.',
  }),
};

export function toTokenHeaders({ token }: Pick<FeedSettings, 'token'>): Record<string, string> {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}
