import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { foreseenLines } from '../../src/cli/foreseen-report.ts';
import { blankRun, DONE } from '../../src/sync/run-form.ts';
import type { Difference } from '../../src/sync/verify.ts';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const SLUG = 'customer-feedback';

interface Kind {
  readonly total: number;
  readonly rows: readonly {
    readonly id: string;
    readonly columns?: readonly string[];
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
      restored: { total: 1, rows: [{ id: back.id, columns: ['_deleted_at'] }] },
      deleted: { total: 1, rows: [{ id: gone }] },
    });
    const updated = new Map(changes?.['updated']?.rows.map((one) => [one.id, one.columns]));
    expect(updated.get(moved)).toEqual(['status']);
    expect(updated.get(edited)).toEqual([label]);

    const shown = await runCli(args, env);
    expect(shown.stdout).toContain(`${SLUG} → default\n  1 row would be new:\n    ${added}\n`);
    expect(shown.stdout).toContain('2 rows would change:');

    const real = json((await runCli(['sync', '--full', '--json'], env)).stdout);
    const [dryRun, realRun] = [json(dry.stdout).runs[0], real.runs[0]];
    const counts = { inserted: 1, updated: 3, deleted: 1 };
    expect([dryRun, realRun]).toMatchObject([counts, counts]);
    expect(real.changes).toBeUndefined();
    const after = json((await runCli([...args, '--json'], env)).stdout);
    expect(after.changes?.[0]).toMatchObject({ inserted: { total: 0 }, updated: { total: 0 } });
  });

  it('names the first of each kind and counts the others', () => {
    const inserted = Array.from({ length: 1_254 }, (_, nth): Difference => ({
      kind: 'missing',
      id: `s${nth}`,
      columns: [],
      row: null,
    }));
    const columns = ['Remarks', 'status'];
    const run = blankRun({ id: 'f', slug: 'contact', name: 'Contact' }, 'default', DONE, 0, 1);
    const lines = foreseenLines(run, [
      ...inserted,
      { kind: 'changed', id: 'u', columns, row: null },
    ]);
    expect(lines.slice(0, 4)).toEqual([
      '',
      'contact → default',
      '  1,254 rows would be new:',
      '    s0',
    ]);
    expect(lines.slice(22)).toEqual([
      '    s19',
      '    … and 1,234 more',
      '  1 row would change:',
      '    u: Remarks, status',
    ]);
  });
});
