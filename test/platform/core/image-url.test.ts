// Tests which image URLs are served.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toServedImage } from '../../../src/platform/core/image-url.ts';

test('http, https, ipfs, ar and data:image URLs are served unchanged', () => {
  const served = [
    'http://example.org/a.png',
    'https://example.org/a b.png?x=1#y',
    'HTTPS://EXAMPLE.ORG/A.PNG',
    'ipfs://Qm/1.png',
    'ar://abc',
    'data:image/png;base64,iVBORw0KGgo=',
    'data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E',
  ];
  for (const url of served) assert.equal(toServedImage(url), url);
});

test('every other URL is served as null', () => {
  const rejected = [
    '',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    ' https://example.org',
    '\thttps://example.org',
    'data:text/html,<script>',
    'data:application/json,{}',
    'data:,image/',
    'data:imagex',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.org/1',
    'ftp://example.org/a.png',
    '//example.org/a.png',
    '/a.png',
    'a.png',
    'https:/example.org',
    'https:example.org',
    'xhttps://example.org',
    'about:blank',
  ];
  for (const url of rejected) assert.equal(toServedImage(url), null, url);
  assert.equal(toServedImage(null), null);
});
