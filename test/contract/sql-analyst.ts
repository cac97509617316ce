import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Cell, JsonText } from '../../src/mirror/types.ts';
import { analystQueries } from '../support/analyst-queries.ts';
import { sqlOf } from './sql-by-hand.ts';
import type { SqlStage } from './sql-target.ts';
import { AT_ONCE, CHECKPOINT, field, fieldList, pass, row } from './target-harness.ts';

const CONTACT = { id: 'frm_c', slug: 'contact', name: 'Contact' };
const WORKSHOP = { id: 'frm_w', slug: 'workshop', name: 'Workshop' };
const CONTACT_FIELDS = fieldList(
  field('c_email', 'Email'),
  field('c_source', 'Source'),
  field('c_topics', 'Topics'),
  field('c_message', 'Message'),
);
const WORKSHOP_FIELDS = fieldList(field('w_email', 'Email'), field('w_seats', 'Seats'));

const list = (...choices: string[]): JsonText => new JsonText(JSON.stringify(choices));
const at = (id: string, createdAt: string, status: string, cells: Record<string, Cell>) =>
  row(id, cells, { createdAt: `${createdAt}.000Z`, status });

/** A Monday, the Sunday after it, and the Monday after that; one is deleted. */
const CONTACTS = [
  at('c1', '2026-03-02T00:00:00', 'NEW', {
    c_email: 'Ann@example.com',
    c_source: 'Web',
    c_topics: list('Price', 'Delivery'),
    c_message: 'I want a Refund',
  }),
  at('c2', '2026-03-08T23:59:59', 'DONE', { c_source: 'Web', c_topics: list('Price') }),
  at('c3', '2026-04-06T00:00:00', 'NEW', { c_source: 'Friend', c_topics: list('Price') }),
  at('c4', '2026-04-06T00:00:00', 'NEW', { c_source: 'Web', c_message: 'refund' }),
];
/** What the third one said before. */
const BEFORE = at('c3', '2026-04-06T00:00:00', 'NEW', { c_source: 'Web', c_topics: list('Price') });
const WORKSHOPS = [
  at('w1', '2026-03-03T10:00:00', 'PAID', { w_email: 'ann@example.com', w_seats: 2 }),
  at('w2', '2026-03-04T10:00:00', 'NEW', { w_email: 'bob@example.com', w_seats: 1 }),
];

/** What each query of the page answers about these. */
const EXPECTED: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  'Submissions a week, by form': [
    { slug: 'contact', week: '2026-03-02', submissions: '2' },
    { slug: 'workshop', week: '2026-03-02', submissions: '2' },
    { slug: 'contact', week: '2026-04-06', submissions: '1' },
  ],
  'The answers to a choice over time': [
    { month: '2026-03', source: 'Web', submissions: '2' },
    { month: '2026-04', source: 'Friend', submissions: '1' },
  ],
  'A question with several choices': [
    { topic: 'Price', submissions: '3' },
    { topic: 'Delivery', submissions: '1' },
  ],
  'Open submissions, and the oldest': [
    { slug: 'contact', status: 'NEW', submissions: '2', oldest: '2026-03-02T00:00:00.000Z' },
    { slug: 'workshop', status: 'NEW', submissions: '1', oldest: '2026-03-04T10:00:00.000Z' },
  ],
  'From NEW to DONE': [{ slug: 'contact', submissions: '1', hours: '6' }],
  'What changed since yesterday': [
    { slug: 'contact', submission_id: 'c3', status: 'NEW', what: 'changed' },
    { slug: 'contact', submission_id: 'c4', status: 'NEW', what: 'deleted' },
    { slug: 'workshop', submission_id: 'w1', status: 'PAID', what: 'changed' },
    { slug: 'workshop', submission_id: 'w2', status: 'NEW', what: 'new' },
  ],
  'What changed in the answers': [
    { id: 'c3', was_status: 'NEW', was_source: 'Web', source: 'Friend' },
  ],
  'Free text that mentions something': [{ submission_id: 'c1', message: 'I want a Refund' }],
  'All forms in one long table': [
    { submission_id: 'c1', label: 'Email', value_index: '1', value_text: 'Ann@example.com' },
    { submission_id: 'c1', label: 'Message', value_index: '1', value_text: 'I want a Refund' },
    { submission_id: 'c1', label: 'Source', value_index: '1', value_text: 'Web' },
    { submission_id: 'c1', label: 'Topics', value_index: '1', value_text: 'Price' },
    { submission_id: 'c1', label: 'Topics', value_index: '2', value_text: 'Delivery' },
    { submission_id: 'c2', label: 'Source', value_index: '1', value_text: 'Web' },
    { submission_id: 'c2', label: 'Topics', value_index: '1', value_text: 'Price' },
    { submission_id: 'c3', label: 'Source', value_index: '1', value_text: 'Friend' },
    { submission_id: 'c3', label: 'Topics', value_index: '1', value_text: 'Price' },
    { submission_id: 'w1', label: 'Email', value_index: '1', value_text: 'ann@example.com' },
    { submission_id: 'w1', label: 'Seats', value_index: '1', value_text: '2' },
    { submission_id: 'w2', label: 'Email', value_index: '1', value_text: 'bob@example.com' },
    { submission_id: 'w2', label: 'Seats', value_index: '1', value_text: '1' },
  ],
  "One submission's history": [{ status: 'NEW' }],
  'Every version of one submission': [{ status: 'NEW', email: 'Ann@example.com', source: 'Web' }],
  'Two forms, joined by e-mail': [
    { workshop_submission: 'w1', contact_submission: 'c1', source: 'Web', seats: '2' },
  ],
};

/** What the page calls the products. */
const DATABASES = {
  SQLite: 'sqlite',
  PostgreSQL: 'postgres',
  'MySQL or MariaDB': 'mariadb',
} as const;

/** The page for analysts: every query on it, with its answer. */
export function describeAnalystPage(stage: SqlStage): void {
  const sql = sqlOf(stage);

  /** Two forms; of `contact` two submissions were changed long ago, and one was deleted just now. */
  async function mirror(): Promise<void> {
    {
      await using target = await stage.place.open('default', systemClock, 'full');
      await using writer = await target.openWriter(CONTACT, AT_ONCE);
      await writer.prepare(CONTACT_FIELDS);
      await writer.apply([BEFORE, ...CONTACTS.filter(({ id }) => id !== BEFORE.id)], []);
      // So that it is another version.
      await systemClock.sleep(2);
      await writer.apply(CONTACTS, []);
      await writer.markDeleted(['c4'], '2026-05-01T00:00:00.000Z');
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    }
    await stage.write(async (writer) => {
      await writer.prepare(WORKSHOP_FIELDS);
      await writer.apply(WORKSHOPS, []);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    }, WORKSHOP);
    const long = "'2026-03-09T00:00:00.000Z'";
    await sql(
      `UPDATE {contact} SET _changed_at = ${long}, _first_seen_at = ${long} WHERE id IN ('c1', 'c2')`,
    );
    await sql(
      "UPDATE {mirror_status_history} SET not_before = '2026-03-09T05:58:59.000Z', seen_at = '2026-03-09T05:59:59.000Z' WHERE submission_id = 'c2'",
    );
    await sql(`UPDATE {workshop} SET _first_seen_at = ${long} WHERE id = 'w1'`);
  }

  describe('the page for analysts', () => {
    it('has queries that run here, and answer their questions', async () => {
      await mirror();
      const queries = analystQueries(DATABASES[stage.place.product]);
      const answers = new Map<string, Record<string, unknown>[]>();
      for (const { question, sql: query } of queries) {
        const rows = await sql(inPlace(query.replaceAll('sub_0123456789', 'c1')));
        answers.set(question, isSorted(query) ? rows.map(shown) : rows.map(shown).sort(byKey));
      }
      expect([...answers.keys()]).toEqual(Object.keys(EXPECTED));
      for (const [question, rows] of Object.entries(EXPECTED)) {
        const found = answers.get(question);
        expect([question, found]).toEqual([
          question,
          rows.map((one) => expect.objectContaining(one)),
        ]);
      }
    });
  });
}

const isSorted = (query: string): boolean => query.includes('ORDER BY');

const byKey = (one: Record<string, unknown>, other: Record<string, unknown>): number => {
  const key = ({ submission_id: id, label, value_index: place }: Record<string, unknown>): string =>
    `${String(id)} ${String(label)} ${String(place)}`;
  return key(one) < key(other) ? -1 : 1;
};

/** The query with the names of relations as the place has them. */
const inPlace = (query: string): string =>
  query.replaceAll(/\b(FROM|JOIN) (\w+)/g, (_all, word: string, name: string) =>
    // Names of subqueries are short.
    name.length > 1 ? `${word} {${name}}` : `${word} ${name}`,
  );

/** Values as every driver can be made to give them. */
function shown(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null ? null : textOf(name, value)]),
  );
}

function textOf(name: string, value: unknown): string {
  if (name === 'hours') return String(Number(value));
  if (!(value instanceof Date)) return String(value);
  // A day comes as midnight where this process is.
  if (name !== 'week') return value.toISOString();
  const local = new Date(value.getTime() - value.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 10);
}
