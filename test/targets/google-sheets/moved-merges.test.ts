import { expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

const FORM = 'frm_contact';

it.each(['incremental', 'full'] as const)(
  'L17: a header under merged cells that a new column of ours moved waits, and is named where it is: %s',
  async (kind) => {
    await using mirror = await SheetMirror.begin(12);
    // Submitted at, Status, Age, Removed, Name, Submission ID.
    mirror.person.moveColumns(2, 1, 4);
    mirror.person.moveColumns(4, 1, 3);
    mirror.person.merge({ top: 0, bottom: 1, left: 3, right: 5 });
    mirror.store.relabelField(FORM, 'field_name', 'Full name');
    const named = async (): Promise<string> =>
      ((await mirror.overview())?.notices ?? []).map(({ message }) => message).join();
    await mirror.pass('full');
    expect(await named()).toContain('merged cells (D1:E1) keep');
    mirror.store.addField(FORM, { id: 'field_city', label: 'City' });
    mirror.submit(12);
    // Labels are kept for a while.
    mirror.clock.advance(3_600_000);
    await mirror.pass(kind);
    expect(mirror.grid()[0]?.slice(2, 5)).toEqual(['Age', 'City', 'Removed']);
    mirror.target = await mirror.place.openElsewhere();
    expect(await named()).toContain('merged cells (E1:F1) keep');
    expect((await mirror.overview())?.losses).toEqual([]);
    mirror.person.unmerge({ top: 0, bottom: 1, left: 4, right: 6 });
    await mirror.pass();
    expect(mirror.grid()[0]?.[5]).toBe('Full name');
    expect(await named()).toBe('');
  },
);
