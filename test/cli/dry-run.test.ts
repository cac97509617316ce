import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ForeseenCollector, foreseenLines } from '../../src/cli/foreseen-report.ts';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const SLUG = 'customer-feedback';

interface Kind {
  readonly total: number;
  readonly rows: readonly {
    readonly id: string;
    readonly columns?: readonly {
      column: string;
      field: string | null;
      before?: unknown;
      after?: unknown;
    }[];
  }[];
}
interface Synced {
  readonly runs: readonly { inserted: number; updated: number; deleted: number }[];
  readonly changes?: readonly ({ slug: string; target: string } & Record<string, Kind>)[];
}
const json = (text: string): Synced => JSON.parse(text) as Synced;

describe('sync --dry-run', () => {
  it('names what a real run then does, and writes nothing', async () => {
    const place = await openPlace({ submissions: 60 });
    const { store } = place.sandbox;
    const form = store.formBySlug(SLUG);
    const formId = form?.id ?? '';
    const field = form?.sections?.[0]?.fields?.[0]?.id ?? '';
    const label = form?.sections?.[0]?.fields?.[0]?.label;
    const back = store.insert({ formId, data: { [field]: 'back' } });
    const env = { ...place.env, TARGET_FORMS: SLUG };
    expect((await runCli(['sync', '--full'], env)).code).toBe(0);
    const [gone = '', moved = '', edited = ''] = store.ids(formId);
    place.change(
      `UPDATE customer_feedback SET _deleted_at = '2026-01-01T00:00:00.000Z' WHERE id = '${back.id}'`,
    );
    store.delete(gone);
    store.setStatus(moved, 'REJECTED');
    const answers = {
      ...Object.fromEntries(store.get(edited)?.data ?? []),
      [field]: 'a secret answer 7f1',
    };
    store.setAnswers(edited, answers);
    const { id: added } = store.insert({ formId, data: { [field]: 'new' } });
    const before = readFileSync(place.file);
    const args = ['sync', '--full', '--dry-run'];
    const dry = await runCli([...args, '--json'], env);
    expect(readFileSync(place.file).equals(before)).toBe(true);
    expect([dry.stdout, dry.stderr].join('\n')).not.toContain('secret answer');
    const [changes] = json(dry.stdout).changes ?? [];
    expect(changes).toMatchObject({
      slug: SLUG,
      target: 'default',
      inserted: { total: 1, rows: [{ id: added }] },
      updated: { total: 2 },
      restored: { total: 1, rows: [{ id: back.id, columns: [{ column: '_deleted_at' }] }] },
      deleted: { total: 1, rows: [{ id: gone }] },
    });
    const updated = new Map(changes?.['updated']?.rows.map((one) => [one.id, one.columns]));
    expect(updated.get(moved)).toEqual([{ column: 'status', field: null }]);
    expect(updated.get(edited)).toEqual([{ column: label, field }]);

    const shown = await runCli([...args, '--values', '--limit', '1'], env);
    expect(shown.stdout).toContain(`${SLUG} → default\n  1 row would be new:\n    ${added}\n`);
    expect(shown.stdout).toContain('2 rows would change:');
    expect(shown.stdout).toContain('… and 1 more');
    expect(shown.stderr).not.toContain('secret answer');
    const values = json((await runCli([...args, '--values', '--json'], env)).stdout);
    const cells = values.changes?.[0]?.['updated']?.rows.find(({ id }) => id === edited)?.columns;
    expect(cells).toMatchObject([{ column: label, after: 'a secret answer 7f1' }]);

    const real = json((await runCli(['sync', '--full', '--json'], env)).stdout);
    const [dryRun, realRun] = [json(dry.stdout).runs[0], real.runs[0]];
    const counts = { inserted: 1, updated: 3, deleted: 1 };
    expect([dryRun, realRun]).toMatchObject([counts, counts]);
    expect(real.changes).toBeUndefined();
    const after = json((await runCli([...args, '--json'], env)).stdout);
    expect(after.changes?.[0]).toMatchObject({ inserted: { total: 0 }, updated: { total: 0 } });
  });

  it.each([
    [['--values'], '--values is about what --dry-run names'],
    [['--limit', '5'], '--limit is about what --dry-run names'],
    [['--dry-run', '--limit', 'many'], '--limit takes a whole number'],
  ])('%j is a mistake that it explains', async (args, said) => {
    const { env } = await openPlace({ submissions: 1 });
    expect(await runCli(['sync', ...args], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(said),
    });
  });

  it('L14: keeps the first of each kind and counts the others; a value has one line', () => {
    const collector = new ForeseenCollector(2);
    for (let nth = 0; nth < 1_236; nth++)
      collector.add({ kind: 'inserted', submissionId: `s${nth}`, cells: [] });
    const cells = [
      { column: 'Remarks', fieldId: 'f', before: null, after: `${'x'.repeat(80)}\nsecond` },
      { column: 'status', fieldId: null, before: 'NEW', after: 'DONE' },
    ];
    collector.add({ kind: 'updated', submissionId: 'u', cells });
    const subject = { form: { id: 'f', slug: 'contact', name: 'Contact' }, target: 'default' };
    const rows = collector.of(subject);
    expect(rows.rows).toHaveLength(3);
    expect(foreseenLines(rows, false)).toEqual([
      '',
      'contact → default',
      '  1,236 rows would be new:',
      '    s0',
      '    s1',
      '    … and 1,234 more',
      '  1 row would change:',
      '    u: Remarks, status',
    ]);
    expect(foreseenLines(rows, true).at(-1)).toBe(
      `    u: Remarks nothing → "${'x'.repeat(59)}…"; status "NEW" → "DONE"`,
    );
  });
});
