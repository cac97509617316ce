import type { FormIdentity, PassRecord } from '../../src/mirror/types.ts';
import { FakeSource, QUEUE, before, formOverview, passRecord } from '../health/fake-source.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const form = (id: string, slug: string, name: string): FormIdentity => ({ id, slug, name });

export const CONTACT = form('frm_7f2k1q', 'contact', 'Kontaktní formulář');
export const SUMMER = form('frm_9s0dd2', 'summer-camp-2026', 'Přihláška na letní tábor 2026 🏕️');
export const FEEDBACK = form('frm_1aa0z8', 'feedback', 'Customer feedback');
export const JOBS = form(
  'frm_44hq0x',
  'job-application',
  'Job application: Senior Backend Engineer (Praha / remote), second round',
);
export const ORDERS = form('frm_c3p0r2', 'orders', 'Bestellformular Großkunden');
export const NEWS = form('frm_new5lt', 'newsletter', 'Newsletter');
export const OLD = form('frm_old123', 'christmas-party', 'Christmas party 2025');

/** A workspace as it may look on a working day: mostly well, with one of each trouble. */
export function realisticSource(): FakeSource {
  const source = new FakeSource();
  const full = passRecord(2 * HOUR, { kind: 'full' });
  const held = {
    outcome: 'withheld' as const,
    kind: 'full' as const,
    withheld: 312,
    total: 948,
    distinct: 948,
    error: '312 rows are absent.',
  };
  const failed = passRecord(50_000, {
    outcome: 'failed',
    requests: 6,
    total: null,
    distinct: 0,
    error: 'Forms API, GET /submissions?formId=frm_44hq0x&page=1: answered 503.',
  });
  const unproven = passRecord(35_000, {
    outcome: 'incomplete',
    total: 412,
    distinct: 409,
    error:
      'The source reports 412 submissions of form "Customer feedback" (frm_1aa0z8), and 409 were seen, without proof that nothing was missed. The submissions that were seen are stored; the next pass takes it up.',
  });
  source.hold('warehouse', [
    formOverview(CONTACT, { rows: 18_204, deletedRows: 12 }, [passRecord(22_000), full]),
    formOverview(SUMMER, { rows: 1_260 }, [passRecord(21_000), passRecord(HOUR, held)]),
    formOverview(FEEDBACK, { rows: 409, rejected: 3 }, [unproven, passRecord(2 * MINUTE), full]),
    formOverview(JOBS, { rows: 87, rejected: 1 }, [failed, passRecord(9 * MINUTE), full]),
    formOverview(ORDERS, { rows: 40_911, deletedRows: 204 }, [passRecord(18_000), full]),
    formOverview(OLD, { rows: 143, goneAt: before(40 * DAY) }, [
      passRecord(40 * DAY, { outcome: 'gone', error: null }),
    ]),
  ]);
  source.hold(
    'team-sheet',
    [
      formOverview(CONTACT, { rows: 18_204, location: 'tab "Kontaktní formulář"' }, [
        passRecord(41_000),
        full,
      ]),
      formOverview(SUMMER, { rows: 1_572, location: 'tab "Přihlášky"' }, [
        passRecord(40_000),
        full,
      ]),
    ],
    'google-sheets',
  );
  source.planState = {
    at: before(30_000),
    forms: [CONTACT, SUMMER, FEEDBACK, JOBS, ORDERS, NEWS].map((planned) => ({
      form: planned,
      targets: [CONTACT, SUMMER].includes(planned) ? ['warehouse', 'team-sheet'] : ['warehouse'],
    })),
    problem: null,
    unmatched: [],
    notices: ['TARGET_FORMS names kontakt-2, and there is no such form.'],
  };
  addHistories(source);
  addDetails(source);
  return source;
}

function addHistories(source: FakeSource): void {
  const passes: PassRecord[] = Array.from({ length: 60 }, (_, at) => {
    const isFull = at % 24 === 9;
    const kind = isFull ? 'full' : 'incremental';
    const tookMs = isFull ? 41_000 : 400 + ((at * 7919) % 1_800);
    const endedMs = 35_000 + at * MINUTE;
    const outcome = at === 0 || at === 17 ? 'incomplete' : at === 31 ? 'failed' : 'ok';
    const error = {
      ok: null,
      incomplete:
        'The source reports 412 submissions, and 409 were seen, without proof that nothing was missed.',
      failed:
        'Forms API, GET /submissions?formId=frm_1aa0z8&page=2: answered 502. It did so six times.',
    }[outcome];
    return passRecord(endedMs, {
      kind,
      outcome,
      error,
      startedAt: before(endedMs + tookMs),
      inserted: at % 5 === 0 ? 2 : 0,
      updated: isFull ? 14 : 0,
      requests: isFull ? 9 : 3,
      total: 412,
      distinct: outcome === 'incomplete' ? 409 : isFull ? 412 : 104,
      rejected: isFull ? 3 : 0,
    });
  });
  source.histories.set(`warehouse/${FEEDBACK.id}`, passes);
  source.rejected.set(`warehouse/${FEEDBACK.id}`, {
    total: 3,
    items: [
      {
        submissionId: 'sub_8Kq2mZx0',
        reason: 'createdAt is no date; the row has none.',
        stored: true,
        firstSeenAt: before(3 * HOUR),
        lastSeenAt: before(2 * HOUR),
      },
      {
        submissionId: 'sub_1Jd93kPa',
        reason: 'The answer to field_17_kx is longer than 50,000 characters; it was cut.',
        stored: true,
        firstSeenAt: before(2 * DAY),
        lastSeenAt: before(2 * HOUR),
      },
      {
        submissionId: 'no-id:5f1d0c9ab2',
        reason: 'The item has no ID.',
        stored: false,
        firstSeenAt: before(9 * DAY),
        lastSeenAt: before(2 * HOUR),
      },
    ],
  });
}

function addDetails(source: FakeSource): void {
  const field = (id: string, label: string, position: number, removedAt: string | null = null) => {
    return { id, label, position, column: label.toLowerCase().replaceAll(/\W+/g, '_'), removedAt };
  };
  const day = (at: number): string => before(at * DAY).slice(0, 10) + 'T00:00:00.000Z';
  const bounds = [null, ...Array.from({ length: 14 }, (_, at) => day(15 - at)), null];
  source.detailed.set(`warehouse/${FEEDBACK.id}`, {
    fields: [
      field('field_1a', 'Your name', 0),
      field('field_2b', 'E-mail', 1),
      field('field_3c', 'How satisfied are you?', 2),
      field('field_4d', 'Fax', 3, before(30 * DAY)),
    ],
    windows: bounds.slice(1).map((to, at) => {
      const open = at > 12;
      const provenAt = open ? null : before((at + 1) * HOUR);
      return { from: bounds[at] ?? null, to, total: 20 + at * 3, provenAt, open };
    }),
  });
}

/** The same while workers read: a backfill on three of them. */
export function busySource(): FakeSource {
  const source = realisticSource();
  const job = (formId: string, worker: string, seen: number, total: number) => ({
    formId,
    target: 'warehouse',
    kind: 'full' as const,
    startedAtMs: Date.parse(before(2 * MINUTE)),
    progress: { atMs: Date.parse(before(1_000)), seen, total },
    worker,
  });
  source.queueState = {
    ...QUEUE,
    running: [job(NEWS.id, 'web1-4121', 31_000, 80_000), job(ORDERS.id, 'web2-77', 900, 40_911)],
    sideJobs: [
      {
        step: 'mark',
        formId: NEWS.id,
        target: null,
        startedAtMs: Date.parse(before(MINUTE)),
        worker: 'web3-9',
      },
    ],
    workers: ['web1-4121', 'web2-77', 'web3-9', 'web4-1'],
  };
  return source;
}
