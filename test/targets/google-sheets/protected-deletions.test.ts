import { expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID. Row 5 shows s3. */
const ID = 5;

it.each([
  { submissions: 12, first: 'full', kind: 'full', how: 'a full pass' },
  { submissions: 12, first: 'incremental', kind: 'full', how: 'one that became full' },
  { submissions: 1_200, first: 'incremental', kind: 'incremental', how: 'a comparison of counts' },
] as const)(
  'L8, L17: a deletion that cannot be marked is listed, and none to look for, after $how',
  async ({ submissions, first, kind }) => {
    await using mirror = await SheetMirror.begin(submissions);
    const listed = async (): Promise<string[]> => {
      const reader = await mirror.target.reader('frm_contact');
      const { items } = (await reader?.rejections(100)) ?? { items: [] };
      return items.map(
        ({ submissionId, reason, stored }) => `${submissionId} ${stored}: ${reason}`,
      );
    };
    const at = mirror.grid().findIndex((row) => row[ID] === 's3');
    const range = mirror.person.protect({ top: at, bottom: at + 1 });
    for (const id of ['s3', 's4']) mirror.store.delete(id);
    const done = { kind, outcome: 'ok', deleted: 1, absent: 0 };
    expect(await mirror.pass(first)).toMatchObject(done);
    const named = `s3 true: "Removed" of its row cannot be written because of the protected range (${at + 1}:${at + 1}).`;
    expect(await listed()).toEqual([named]);
    const { checkpoint } = (await mirror.overview()) ?? {};
    expect(checkpoint).toMatchObject({ absent: 0, total: submissions - 2 });
    for (const more of [0, 1]) {
      mirror.submit(submissions + more);
      const next = { kind: 'incremental', outcome: 'ok', inserted: 1, absent: 0 };
      expect(await mirror.pass()).toMatchObject(next);
    }
    expect(await listed()).toEqual([named]);
    mirror.person.unprotect(range);
    expect(await mirror.pass()).toMatchObject({ kind: 'full', deleted: 1, absent: 0 });
    expect(await listed()).toEqual([]);
    expect((await mirror.verify()).outcome).toBe('same');
  },
);
