import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { foreseenLines } from '../../src/cli/sync-report.ts';
import { blankRun } from '../../src/sync/run-form.ts';
import { runCli, syncDocument } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const SLUG = 'customer-feedback';

describe('sync --dry-run', () => {
  it('names the actions of the following real run, and writes nothing', async () => {
    const place = await openPlace({ submissions: 60 });
    const { store } = place.sandbox;
    const form = store.formBySlug(SLUG);
    const formId = form?.id ?? '';
    const field = form?.sections[0]?.[0]?.id ?? '';
    const label = form?.sections[0]?.[0]?.label;
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
      ...store.get(edited)?.data,
      [field]: 'a secret answer 7f1',
    };
    store.distort(edited, { data: answers });
    const { id: added } = store.insert({ formId, data: { [field]: 'new' } });
    const before = readFileSync(place.file);
    const args = ['sync', '--full', '--dry-run'];
    const dry = await runCli([...args, '--json'], env);
    expect(readFileSync(place.file).equals(before)).toBe(true);
    expect([dry.stdout, dry.stderr].join('\n')).not.toContain('secret answer');
    const changes = syncDocument(dry).changes ?? [];
    expect(changes.map(({ kind, id, columns }) => [kind, id, columns])).toEqual(
      expect.arrayContaining([
        ['inserted', added, []],
        ['updated', moved, ['status']],
        ['updated', edited, [label]],
        ['restored', back.id, ['_deleted_at']],
        ['deleted', gone, []],
      ]),
    );
    expect(changes).toHaveLength(5);
    expect(changes[0]).toMatchObject({ slug: SLUG, target: 'default' });

    const shown = await runCli(args, env);
    expect(shown.stdout).toContain(`· ${SLUG} → default\n    `);
    expect(shown.stdout).toContain(`    ${added} would be new\n`);
    expect(shown.stdout).toContain(`    ${moved} would change: status\n`);

    const real = syncDocument(await runCli(['sync', '--full', '--json'], env));
    const [dryRun, realRun] = [syncDocument(dry).runs[0], real.runs[0]];
    const counts = { inserted: 1, updated: 3, deleted: 1 };
    expect([dryRun, realRun]).toMatchObject([counts, counts]);
    expect(real.changes).toBeUndefined();
    const after = syncDocument(await runCli([...args, '--json'], env));
    expect(after.changes?.filter(({ kind }) => kind !== 'deleted')).toEqual([]);
  });

  it('names the first changes and counts the others', () => {
    const columns = ['Remarks', 'status'];
    const updated = { kind: 'changed', id: 'u', columns, createdAt: null } as const;
    const inserted = Array.from({ length: 1_254 }, (_, nth) => {
      return { kind: 'missing', id: `s${nth}`, columns: [], createdAt: null } as const;
    });
    const run = blankRun({ id: 'f', slug: 'contact', name: 'Contact' }, 'default', null, 0, 1);
    const [{ text, details = [] } = { text: '' }] = foreseenLines({
      ...run,
      foreseen: [updated, ...inserted],
    });
    expect([text, details[0], details[1]]).toEqual([
      'contact → default',
      'u would change: Remarks, status',
      's0 would be new',
    ]);
    expect(details.slice(49)).toEqual(['s48 would be new', '… and 1,205 more: --json names all']);
  });
});
