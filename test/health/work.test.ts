import { describe, expect, it } from 'vitest';
import type { QueueState, RunningJob } from '../../src/health/facts.ts';
import type { RunningPass } from '../../src/health/pass-tracker.ts';
import { runningWork } from '../../src/health/work.ts';
import { NOW, QUEUE, before } from './fake-source.ts';
import { FORM_A, FORM_B, healthOf } from './health-of.ts';

const job = (changes: Partial<RunningJob> = {}): RunningJob => ({
  formId: 'frm_a',
  target: 'db',
  kind: 'incremental',
  startedAtMs: NOW - 30_000,
  progress: null,
  worker: 'web1-42',
  ...changes,
});

const own: RunningPass = {
  kind: 'full',
  startedAtMs: NOW - 29_000,
  heardAtMs: NOW - 1_000,
  seen: 700,
  total: 1_000,
};

const workOf = (queue: Partial<QueueState>, running: RunningPass | null = null) =>
  runningWork(
    healthOf(
      {},
      {
        queue: { ...QUEUE, ...queue },
        running: (_target, formId) => (formId === 'frm_a' ? running : null),
      },
    ),
  );

describe('what the workers do', () => {
  it('is told by the queue, on whichever machine, the longest first', () => {
    const progress = { atMs: NOW - 2_000, seen: 5, total: 10 };
    const running = [job(), job({ formId: 'frm_b', startedAtMs: NOW - 60_000, progress })];
    const sideJobs = [
      {
        step: 'mark' as const,
        formId: 'frm_new',
        target: null,
        startedAtMs: NOW - 8_000,
        worker: null,
      },
    ];
    const known = { step: 'pass', target: 'db', kind: 'incremental', worker: 'web1-42' };
    expect(workOf({ running, sideJobs })).toEqual([
      { ...known, form: FORM_B, startedAt: before(60_000), seen: 5, total: 10 },
      { ...known, form: FORM_A, startedAt: before(30_000), seen: 0, total: 0 },
      {
        step: 'mark',
        kind: null,
        form: { id: 'frm_new', slug: 'frm_new', name: 'frm_new' },
        target: null,
        startedAt: before(8_000),
        worker: null,
        seen: 0,
        total: 0,
      },
    ]);
  });

  it('is one pass, not two, where this process runs it, as what it has become and as far as it knows', () => {
    expect(workOf({ running: [job()] }, own)).toMatchObject([
      { kind: 'full', seen: 700, total: 1_000, worker: 'web1-42' },
    ]);
    const both = workOf({ running: [job(), job({ kind: 'compare', worker: 'web2-7' })] }, own);
    expect(both).toMatchObject([{ kind: 'full' }, { kind: 'compare', seen: 0, worker: 'web2-7' }]);
    // What the queue knows may be newer: then another process runs it.
    const progress = { atMs: NOW, seen: 900, total: 1_000 };
    expect(workOf({ running: [job({ progress })] }, own)).toMatchObject([{ seen: 900 }]);
  });

  it('is known of this process even while the queue is away', () => {
    const away = { reachable: false, running: [job({ formId: 'frm_b' })] };
    expect(workOf(away, own)).toMatchObject([{ form: FORM_A, seen: 700, worker: null }]);
    expect(workOf(away)).toEqual([]);
  });
});
