import { describe, expect, it } from 'vitest';
import { CountedWorld } from './look-world.ts';

/** Forms `f0` to `f<n>` with some of each of two statuses, settled. */
async function settledWorld(forms: number): Promise<CountedWorld> {
  const world = new CountedWorld();
  for (let n = 0; n < forms; n++) world.form(`f${n}`, { NEW: 5 + n, DONE: 3 });
  await world.tick();
  await world.tick();
  expect(world.others).toEqual(new Map());
  return world;
}

const visited = ({ visits }: { visits: ReadonlyMap<string, unknown> }): string[] => [
  ...visits.keys(),
];

describe('the judgement of a look', () => {
  it('visits every form before anything is known', async () => {
    const world = new CountedWorld().form('a', { NEW: 1 }).form('b', {});
    const verdict = await world.tick();
    expect(visited(verdict)).toEqual(['a', 'b']);
    expect([verdict.by, world.asked]).toEqual(['nothing-settled', 0]);
  });

  it('L16: asks nothing more where the workspace counts what is accounted for', async () => {
    const world = await settledWorld(200);
    const verdict = await world.tick();
    expect([visited(verdict), verdict.by, world.asked]).toEqual([[], 'workspace', 0]);
  });

  it('L16: finds out once what others have, by one question a form where they seem to have nothing', async () => {
    const world = new CountedWorld().form('a', { NEW: 1 }).form('b', { NEW: 2, odd: 1 });
    await world.tick();
    expect(visited(await world.tick())).toEqual([]);
    expect([world.others, world.asked]).toEqual([new Map(), 2]);
  });

  it('L16: is not taken in by others that make up for what a form has lost', async () => {
    const world = new CountedWorld().form('a', { NEW: 4 }).form('b', { NEW: 2 });
    await world.tick();
    world.foreign = new Map([['NEW', 1]]);
    world.change('a', 'NEW', -1);
    expect(visited(await world.tick())).toEqual(['a']);
    expect(world.others).toEqual(new Map([['NEW', 1]]));
  });

  it('L16: finds the form of a status that changed, and stops there', async () => {
    const world = await settledWorld(40);
    world.change('f39', 'NEW', -1);
    world.change('f39', 'PAID', 1);
    const verdict = await world.tick();
    expect([...verdict.visits]).toEqual([['f39', { compareCounts: true }]]);
    // Most have been NEW there: two forms at a time, and then whether it explains the other status, too.
    expect(world.asked).toBe(3);
    expect(world.differing()).toEqual([]);
    expect(visited(await world.tick())).toEqual([]);
  });

  it('L16: finds deletions in several forms, and a status that no documentation has', async () => {
    const world = await settledWorld(6);
    world.change('f0', 'DONE', -1);
    world.change('f5', 'DONE', -2);
    world.change('f3', 'odd', 1);
    await world.tick();
    expect(world.differing()).toEqual([]);
  });

  it('L16: a newcomer that the newest page shows needs no search, and no comparison', async () => {
    const world = await settledWorld(6);
    world.change('f2', 'NEW', 1);
    const shown = new Map([['f2', new Map([['NEW', 1]])]]);
    const verdict = await world.tick({ shown });
    expect([...verdict.visits]).toEqual([['f2', { compareCounts: false }]]);
    expect([verdict.by, world.asked]).toEqual(['newest-page', 0]);
  });

  it('L16: a newcomer does not hide what another form has lost', async () => {
    const world = await settledWorld(6);
    world.change('f2', 'NEW', 1);
    world.change('f4', 'NEW', -1);
    const verdict = await world.tick({ shown: new Map([['f2', new Map([['NEW', 1]])]]) });
    expect(visited(verdict).toSorted()).toEqual(['f2', 'f4']);
  });

  it('what no mirrored form explains belongs to others, from then on', async () => {
    const world = await settledWorld(6);
    world.foreign = new Map([['NEW', 3]]);
    // A form's own list may only be late: each is asked for all it has at the next look.
    expect(await world.tick()).toMatchObject({ visits: new Map(), others: null });
    // The page was read after the counts: it misses nothing that they have.
    expect(await world.tick()).toMatchObject({ visits: new Map(), page: 'shown' });
    expect(world.others).toEqual(new Map([['NEW', 3]]));
    expect(await world.tick()).toMatchObject({ visits: new Map(), page: 'shown' });
    expect(world.asked).toBe(0);
  });

  it("L16: what a form's own list shows later than the workspace's belongs to that form", async () => {
    const world = await settledWorld(6);
    world.foreign = new Map([['NEW', 3]]);
    for (let tick = 0; tick < 3; tick++) await world.tick();
    world.foreign = new Map([['NEW', 4]]);
    expect((await world.tick()).visits).toEqual(new Map());
    world.foreign = new Map([['NEW', 3]]);
    world.change('f1', 'NEW', 1);
    expect((await world.tick()).visits).toEqual(new Map([['f1', { compareCounts: true }]]));
  });

  it('newcomers of forms that are not mirrored explain themselves', async () => {
    const world = await settledWorld(6);
    const elsewhere = new Map([['NEW', 2]]);
    world.foreign = elsewhere;
    expect((await world.tick({ elsewhere })).by).toBe('newest-page');
    expect([world.others, world.asked]).toEqual([elsewhere, 0]);
  });

  it('L16: but not what a mirrored form has lost, and they are known to be there in any case', async () => {
    const world = await settledWorld(6);
    const elsewhere = new Map([['NEW', 1]]);
    world.foreign = elsewhere;
    world.change('f3', 'NEW', -1);
    const verdict = await world.tick({ elsewhere });
    expect([...verdict.visits]).toEqual([['f3', { compareCounts: true }]]);
    expect([verdict.page, world.others]).toEqual(['shown', elsewhere]);
  });

  it('forms that are not settled are visited, and asked what they have', async () => {
    const world = await settledWorld(6);
    world.unsettled.add('f1');
    world.change('f1', 'NEW', 7);
    const verdict = await world.tick();
    expect([...verdict.visits]).toEqual([['f1', { compareCounts: false }]]);
    expect(world.asked).toBe(1);
  });

  it('L3: a workspace whose counts mean nothing has each form asked for its own', async () => {
    const world = await settledWorld(6);
    world.lists = 'none';
    world.change('f4', 'NEW', -1);
    world.change('f4', 'DONE', 1);
    const verdict = await world.tick();
    expect([...verdict.visits]).toEqual([['f4', { compareCounts: true }]]);
    expect(verdict.by).toBe('forms');
  });

  it('L3: an empty list of the workspace is not believed', async () => {
    const world = new CountedWorld().form('a', {}).form('b', {});
    await world.tick();
    world.workspace = () => new Map();
    await world.tick();
    world.change('b', 'NEW', 1);
    expect(visited(await world.tick())).toEqual(['b']);
  });

  it('L3: a workspace that does not count all that its forms do is not believed', async () => {
    const world = await settledWorld(6);
    const whole = world.workspace.bind(world);
    world.workspace = () => {
      const counts = new Map(whole());
      for (const [status, count] of world.countsOf('f0')) {
        counts.set(status, (counts.get(status) ?? 0) - count);
      }
      return counts;
    };
    await world.tick();
    expect(world.others).toBeNull();
    world.change('f0', 'NEW', -1);
    expect(visited(await world.tick())).toEqual(['f0']);
  });

  it('L12: a form that does not answer is visited, and holds up no other', async () => {
    const world = await settledWorld(6);
    world.silent.add('f0');
    world.change('f3', 'NEW', -1);
    world.change('f0', 'NEW', 2);
    expect(visited(await world.tick()).toSorted()).toEqual(['f0', 'f3']);
    expect(world.others).toEqual(new Map());
  });
});
