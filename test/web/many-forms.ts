import type { FormIdentity, PassRecord } from '../../src/mirror/types.ts';
import { FakeSource, before, formOverview, passRecord } from '../health/fake-source.ts';

const HOUR = 3_600_000;

/** How forms of a large workspace are called. */
const NAMES = [
  'Přihláška na letní tábor',
  'Customer feedback after the visit',
  'Bestellformular Großkunden',
  'Job application: Senior Backend Engineer (Praha / remote)',
  'Newsletter',
  'Conference registration with workshops and dinner',
] as const;

/** A form as one of some hundred. */
const formAt = (at: number): FormIdentity => ({
  id: `frm_${(at * 7_919 + 1_000_003).toString(36)}`,
  slug: `${['camp', 'feedback', 'orders', 'jobs', 'news', 'conference'][at % 6]}-${2_000 + at}`,
  name: `${NAMES[at % 6]} ${at + 1}`,
});

/** What happened to the form at a place; null: it is well. */
export type Trouble = (at: number, target: string) => Partial<PassRecord> | null;

/** A pass that failed with a message of usual length. */
export const failing: Trouble = (at) => ({
  outcome: 'failed',
  error: `Forms API, GET /submissions?formId=${formAt(at).id}&page=1&limit=100&sortBy=submittedAt&sortOrder=desc: answered 503 (upstream connect error or disconnect/reset before headers).`,
});

/** One in thirty fails, one in twenty is not proven. */
export const usual: Trouble = (at, target) => {
  if (at % 30 === 7 && target === 'warehouse') return failing(at, target);
  return at % 20 === 3
    ? { outcome: 'incomplete', error: 'The source reports 412 submissions, and 409 were seen.' }
    : null;
};

/** A workspace of `count` forms, each in a warehouse and in a sheet. */
export function manyForms(count: number, trouble: Trouble = usual): FakeSource {
  const source = new FakeSource();
  const forms = Array.from({ length: count }, (_, at) => formAt(at));
  for (const target of ['warehouse', 'team-sheet']) {
    const isSheet = target === 'team-sheet';
    const held = forms.map((form, at) => {
      const full = passRecord(HOUR + at * 60_000, { kind: 'full' });
      const wrong = trouble(at, target);
      const newest = passRecord(20_000 + (at % 40) * 1_000, wrong ?? {});
      const places = isSheet
        ? {
            url: `https://docs.google.com/spreadsheets/d/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg/edit#gid=${1_000_000 + at}`,
          }
        : { table: form.slug.replaceAll('-', '_') };
      const changes = { rows: 150 + ((at * 7_919) % 90_000), deletedRows: at % 9, place: places };
      return formOverview(form, { ...changes, rejected: at % 17 === 0 ? 2 : 0 }, [newest, full]);
    });
    source.hold(target, held, isSheet ? 'google-sheets' : 'postgres');
  }
  const planned = forms.map((form) => ({ form, targets: ['warehouse', 'team-sheet'] }));
  source.planState = {
    at: before(30_000),
    forms: planned,
    problem: null,
    unmatched: [],
    notices: [],
  };
  return source;
}
