import { expect, vi } from 'vitest';
import { FakeHandlers, Gate, type PassScript } from '../queue/fake-handlers.ts';
import { type QueuePlace, startAt, type TestQueue } from '../queue/harness.ts';
import { SOON } from '../queue/waits.ts';
import type { QueueIt } from './queue.ts';

const form = { formId: 'f1', targets: ['a'] };

/** Has a pass that asks for help until its gate opens. */
class Asking {
  readonly handlers = new FakeHandlers([form]);
  readonly gate = new Gate();
  /** How many windows it says that it has. */
  open = 5;

  constructor() {
    const script: PassScript = async (_order, signal, _onProgress, onOpen) => {
      const ask = setInterval(() => onOpen(this.open), 20);
      try {
        return await this.gate.wait(signal);
      } finally {
        clearInterval(ask);
      }
    };
    this.handlers.script = script;
  }
}

/** A process that helps until its gate opens. */
class Helping {
  readonly handlers = new FakeHandlers([form]);
  readonly gate = new Gate();
  atOnce = 0;

  constructor() {
    this.handlers.assistScript = async (_place, signal) => {
      this.atOnce++;
      await this.gate.wait(signal).finally(() => this.atOnce--);
      return 1;
    };
  }
}

const join = (place: QueuePlace, helping: Pick<Helping, 'handlers'>) =>
  startAt(place, helping.handlers, {}, { role: 'worker' });

/** Has it run a pass that asks for help: begun before others join, who would take it otherwise. */
async function askingPass(queue: TestQueue, asking: Asking): Promise<void> {
  await queue.runNow('full');
  await vi.waitFor(() => expect(asking.handlers.passes).toHaveLength(1), SOON);
}

/** Workers that help a full pass of another. */
export function describeAssists(it: QueueIt): void {
  it('a pass is helped by every other worker, one window at a time, also by one that joins', async ({
    place,
    use,
    server,
  }) => {
    const asking = new Asking();
    const queue = use(await startAt(place, asking.handlers));
    await askingPass(queue, asking);
    if (!server.shared) {
      asking.gate.open();
      expect(asking.handlers.assists).toEqual([]);
      return;
    }
    const one = new Helping();
    use(await join(place, one));
    await vi.waitFor(() => expect(one.atOnce).toBe(1), SOON);
    const two = new Helping();
    use(await join(place, two));
    await vi.waitFor(() => expect(two.atOnce).toBe(1), SOON);
    expect(one.atOnce).toBe(1);
    expect(one.handlers.assists[0]).toEqual({ formId: 'f1', target: 'a' });
    // Its own process has all of its requests already.
    expect(asking.handlers.assists).toEqual([]);
    asking.gate.open();
    one.gate.open();
    two.gate.open();
    const ended = expect.objectContaining({ name: 'job.completed' });
    await vi.waitFor(() => expect(queue.emitted).toContainEqual(ended), SOON);
  });

  it('a worker takes no further window for others once a pass of its own asks for help', async ({
    place,
    use,
    server,
  }) => {
    if (!server.shared) return;
    const [asking, other] = [new Asking(), new Asking()];
    const queue = use(await startAt(place, asking.handlers));
    await askingPass(queue, asking);
    const said: boolean[] = [];
    other.handlers.assistScript = async (_place, _signal, goesOn) => {
      said.push(goesOn());
      await vi.waitFor(() => expect(goesOn()).toBe(false), SOON);
      said.push(goesOn());
      return 1;
    };
    use(await join(place, other));
    await vi.waitFor(() => expect(said).toEqual([true]), SOON);
    // The first has its hands full, so that this one is the other's.
    for (const { handlers } of [asking, other]) handlers.forms = [form, { ...form, formId: 'f2' }];
    await queue.runNow('full');
    await vi.waitFor(() => expect(said).toEqual([true, false]), SOON);
    expect(other.handlers.passes).toMatchObject([{ formId: 'f2', kind: 'full' }]);
    asking.gate.open();
    other.gate.open();
  });

  it('a worker that stops leaves helping to another', async ({ place, use, server }) => {
    if (!server.shared) return;
    const asking = new Asking();
    // One job waits at most, so that it must be the same.
    asking.open = 1;
    const queue = use(await startAt(place, asking.handlers));
    await askingPass(queue, asking);
    const one = new Helping();
    const leaving = use(await join(place, one));
    await vi.waitFor(() => expect(one.atOnce).toBe(1), SOON);
    asking.open = 0;
    const two = new Helping();
    use(await join(place, two));
    await leaving.stop();
    await vi.waitFor(() => expect(two.atOnce).toBe(1), SOON);
    two.gate.open();
    asking.gate.open();
  });
}
