import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { LinkedSignal } from '../../src/base/linked-signal.ts';

describe('a linked signal', () => {
  it('aborts with any of its sources, for the same reason', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    using linked = new LinkedSignal(one.signal, undefined, other.signal);
    expect(linked.signal.aborted).toBe(false);
    other.abort('enough');
    expect([linked.signal.aborted, linked.signal.reason]).toEqual([true, 'enough']);
  });

  it('is aborted from the start when a source is', () => {
    using linked = new LinkedSignal(AbortSignal.abort('before'));
    expect(linked.signal.reason).toBe('before');
  });

  it('aborts by itself and leaves its sources alone', () => {
    const source = new AbortController();
    using linked = new LinkedSignal(source.signal);
    linked.abort('own');
    expect([linked.signal.reason, source.signal.aborted]).toEqual(['own', false]);
  });

  it('lets go of its sources, which may live as long as the process', () => {
    const source = new AbortController();
    const linked = new LinkedSignal(source.signal);
    linked[Symbol.dispose]();
    expect(getEventListeners(source.signal, 'abort')).toEqual([]);
    source.abort();
    expect(linked.signal.aborted).toBe(false);
  });
});
