import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { FakeWork, Gate } from '../queue/fake-work.ts';
import { QUICK, type QueuePlace, startAt } from '../queue/harness.ts';
import type { QueueIt } from './queue.ts';

const SOON = { timeout: 20_000, interval: 50 };

/** A worker in a process of its own, whose passes last until their signal aborts. */
class Child {
  readonly process: ChildProcess;
  readonly lines: string[] = [];

  constructor(place: QueuePlace) {
    const script = join(import.meta.dirname, '../queue/child-worker.ts');
    this.process = spawn(process.execPath, [script, JSON.stringify(place)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.process.stdout?.on('data', (chunk: Buffer) => {
      this.lines.push(...chunk.toString().split('\n').filter(Boolean));
    });
  }

  /** Ends it, and tells how it ended. */
  async end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: string | null }> {
    const exited = once(this.process, 'exit');
    this.process.kill(signal);
    const [code, by] = (await exited) as [number | null, string | null];
    return { code, signal: by };
  }
}

/** Kills, stops, and stores that forget. */
export function describeOutages(it: QueueIt): void {
  const one = (): FakeWork => new FakeWork([{ formId: 'f1', targets: ['a'] }]);

  it("L5: a killed worker's pass is taken over", async ({ place, use, onTestFinished }) => {
    const child = new Child(place);
    onTestFinished(() => void child.process.kill('SIGKILL'));
    await vi.waitFor(() => expect(child.lines).toContain('began f1'), SOON);
    await child.end('SIGKILL');
    const work = one();
    const queue = use(await startAt(place, work));
    await vi.waitFor(() => expect(work.passes).toHaveLength(1), SOON);
    expect(work.passes[0]).toEqual({ formId: 'f1', target: 'a', kind: 'incremental' });
    await vi.waitFor(async () => {
      const sync = (await queue.status()).queues.filter(({ step }) => step === 'sync');
      expect(sync.map(({ active, waiting }) => active + waiting)).toEqual([0, 0]);
    }, SOON);
  });

  it('SIGTERM lets the batch in hand end, puts the pass back and exits with 0', async ({
    place,
    use,
    onTestFinished,
  }) => {
    const child = new Child(place);
    onTestFinished(() => void child.process.kill('SIGKILL'));
    await vi.waitFor(() => expect(child.lines).toContain('began f1'), SOON);
    expect(await child.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(child.lines).toContain('finished the batch of f1');
    const work = one();
    use(await startAt(place, work));
    // At once, not only when a lock has run out.
    await vi.waitFor(() => expect(work.passes).toHaveLength(1), { timeout: 2_000, interval: 20 });
  });

  it('schedules come back by themselves when the store has lost everything', async ({
    place,
    use,
    server,
    skip,
  }) => {
    if (server.wipe === undefined) return skip('this store cannot be wiped from outside');
    const work = one();
    use(await startAt(place, work, { incremental: { everyMs: 200 } }));
    await vi.waitFor(() => expect(work.passes.length).toBeGreaterThanOrEqual(2), SOON);
    await server.wipe(place);
    const before = work.passes.length;
    await vi.waitFor(() => expect(work.passes.length).toBeGreaterThanOrEqual(before + 4), SOON);
  });

  it('work goes on when the server was killed and started again', async ({
    place,
    use,
    server,
    skip,
  }) => {
    if (!server.kill || !server.restart) return skip('this store is no server of ours');
    const work = one();
    const everyMs = 200;
    const queue = use(await startAt(place, work, { incremental: { everyMs } }));
    await vi.waitFor(() => expect(work.passes.length).toBeGreaterThanOrEqual(2), SOON);
    await server.kill();
    await server.restart();
    const before = work.passes.length;
    await vi.waitFor(() => expect(work.passes.length).toBeGreaterThanOrEqual(before + 4), SOON);
    await vi.waitFor(async () => expect((await queue.status()).reachable).toBe(true), SOON);
  });

  it('status and stop end in time although the server is away', async ({
    place,
    use,
    server,
    skip,
  }) => {
    if (!server.kill || !server.restart) return skip('this store is no server of ours');
    const work = one();
    const gate = new Gate();
    work.script = (_order, signal) => gate.wait(signal);
    const tuning = { ...QUICK, stopMs: 300 };
    const queue = use(await startAt(place, work, {}, { tuning }));
    await queue.runNow('incremental');
    await vi.waitFor(() => expect(work.passes).toHaveLength(1), SOON);
    await server.kill();
    expect(await queue.status()).toMatchObject({ reachable: false, schedules: [], queues: [] });
    await queue.stop();
    await server.restart();
    // And whoever comes next takes over.
    const next = one();
    use(await startAt(place, next));
    await vi.waitFor(() => expect(next.passes).toHaveLength(1), SOON);
  });
}
