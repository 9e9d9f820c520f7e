// Concurrent reads share a statement. No read returns a value from before its call, and a statement has each key only once.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Deadline } from '../../../src/platform/core/deadline.ts';
import { BatchedReads } from '../../../src/platform/database/batched-reads.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Creates reads whose statements end only when the test calls `end`. `sent` has the keys of each statement. */
function createReads(sizeMax = 100) {
  const sent: (readonly string[])[] = [];
  const ends: ((error?: Error) => void)[] = [];
  let value = 'first';
  const reads = new BatchedReads<string>({
    sizeMax,
    readAll: (keys) => {
      sent.push(keys);
      const read = new Map(keys.filter((key) => key !== 'missing').map((key) => [key, `${key} ${value}`]));
      const { promise, resolve, reject } = Promise.withResolvers<Map<string, string>>();
      ends.push((error) => (error ? reject(error) : resolve(read)));
      return promise;
    },
  });
  const end = (index: number, error?: Error) => ends[index]?.(error);
  return { reads, sent, end, change: (next: string) => void (value = next) };
}

describe('batched reads', () => {
  test('reads that are called together share one statement, which has each key once', async () => {
    const { reads, sent, end } = createReads();
    const read = ['a', 'b', 'a', 'missing'].map((key) => reads.read(key));
    await settle();
    assert.deepEqual(sent, [['a', 'b', 'missing']]);
    end(0);
    assert.deepEqual(await Promise.all(read), ['a first', 'b first', 'a first', null]);
  });

  test('a read never returns a value that was read before its call', async () => {
    const { reads, sent, end, change } = createReads();
    const before = reads.read('a');
    await settle();
    change('second');
    const after = reads.read('a');
    end(0);
    assert.equal(await before, 'a first');
    await settle();
    assert.equal(sent.length, 2);
    end(1);
    assert.equal(await after, 'a second');
  });

  test('a read is rejected if its deadline passes while it waits for a statement, and the other waiting reads are still sent', async (t) => {
    let now = 1_000;
    t.mock.method(performance, 'now', () => now);
    const { reads, sent, end } = createReads();
    const running = [reads.read('a')];
    await settle();
    running.push(reads.read('b'));
    await settle();
    const late = reads.read('c', Deadline.after(50));
    const inTime = reads.read('d', Deadline.after(200));
    now = 1_050;
    end(0);
    await assert.rejects(late, { code: 'unavailable' });
    assert.deepEqual(sent, [['a'], ['b'], ['d']]);
    end(1);
    end(2);
    await Promise.all([...running, inTime]);
  });

  test('while two statements run, further reads wait, and then share the next statement', async () => {
    const { reads, sent, end } = createReads();
    const first = reads.read('a');
    await settle();
    const second = reads.read('b');
    await settle();
    const later = [reads.read('c'), reads.read('d')];
    await settle();
    assert.deepEqual(sent, [['a'], ['b']]);
    end(1);
    await second;
    await settle();
    assert.deepEqual(sent.slice(2), [['c', 'd']]);
    end(0);
    end(2);
    assert.deepEqual(await Promise.all([first, ...later]), ['a first', 'c first', 'd first']);
  });

  test('when there are more keys than the limit of a statement, the keys are read in several statements', async () => {
    const { reads, sent, end } = createReads(2);
    const read = ['a', 'b', 'c'].map((key) => reads.read(key));
    await settle();
    await settle();
    assert.deepEqual(sent, [['a', 'b'], ['c']]);
    end(0);
    end(1);
    assert.equal((await Promise.all(read)).length, 3);
  });

  test('when a statement fails, all its reads are rejected, and a later read sends a new statement', async () => {
    const { reads, sent, end } = createReads();
    const failing = [reads.read('a'), reads.read('b')];
    await settle();
    end(0, new Error('the statement failed'));
    for (const read of await Promise.allSettled(failing)) assert.equal(read.status, 'rejected');
    const next = reads.read('a');
    await settle();
    assert.equal(sent.length, 2);
    end(1);
    assert.equal(await next, 'a first');
  });
});
