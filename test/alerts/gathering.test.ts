import { describe, expect, it } from 'vitest';
import { type Alert, NO_ALERTS, parseAlertState } from '../../src/alerts/alert-state.ts';
import { evaluateAll } from '../../src/alerts/grouping.ts';
import { alertMessage } from '../../src/alerts/message.ts';
import { alertNotice } from '../../src/alerts/notice.ts';
import type { MirrorHealth } from '../../src/health/mirror-health.ts';
import { NOW, formOverview, passRecord } from '../health/fake-source.ts';
import { healthOf, reading } from '../health/health-of.ts';

const MINUTE = 60_000;
const COUNT = 200;
const FORMS = Array.from({ length: COUNT }, (_, at) => ({
  id: `frm_${at}`,
  slug: `f${at}`,
  name: `Form ${at}`,
}));

/** A mirror of 200 forms `atMs` after NOW, of which the first `held` wait for a person. */
function emptied(held: number, atMs: number): MirrorHealth {
  const withheld = [passRecord(9_000, { kind: 'full', outcome: 'withheld', withheld: 30 })];
  const overview = {
    kind: 'postgres',
    address: 'x',
    forms: FORMS.map((form) => formOverview(form)),
  };
  const passes = FORMS.map(({ id }, at): [string, ReturnType<typeof passRecord>[]] => [
    `db ${id}`,
    at < held ? withheld : [passRecord(-atMs, { kind: 'full' })],
  ]);
  const targets = [reading({ overview })];
  return healthOf(Object.fromEntries(passes), {
    targets,
    nowMs: NOW + atMs,
    nextRunMs: () => Infinity,
  });
}

/** What is sent at each of these looks; the state goes through its file in between. */
function sentAt(looks: readonly MirrorHealth[]): Alert[][] {
  let state = NO_ALERTS;
  return looks.map((health) => {
    const changes = evaluateAll(state, health, true);
    state = parseAlertState(JSON.stringify(changes.state)) ?? NO_ALERTS;
    return [...changes.alerts];
  });
}

const about = ({ status, forms, subject, members }: Alert): string =>
  `${status} ${subject.form?.id ?? `${forms}/${members?.length ?? 0}`}`;

describe('alerts of one kind about many forms', () => {
  it('are one at once, and one with all others when the time of a group is over', () => {
    const looks = [
      emptied(1, 0),
      emptied(40, MINUTE),
      emptied(200, 4 * MINUTE),
      emptied(200, 5 * MINUTE),
    ];
    const sent = sentAt(looks);
    expect(sent.map((alerts) => alerts.map(about))).toEqual([
      ['firing frm_0'],
      [],
      [],
      ['firing 199/199'],
    ]);
    expect(sentAt([...looks, emptied(200, 12 * MINUTE)]).at(-1)).toEqual([]);
  });

  it('that show at the same look are one', () => {
    expect(sentAt([emptied(200, 0)])[0]?.map(about)).toEqual(['firing 200/200']);
  });

  it('are never sent where they are over before', () => {
    const looks = [
      emptied(1, 0),
      emptied(9, MINUTE),
      emptied(1, 2 * MINUTE),
      emptied(1, 9 * MINUTE),
    ];
    expect(sentAt(looks).flat().map(about)).toEqual(['firing frm_0']);
  });

  it('end together, too', () => {
    const looks = [
      emptied(200, 0),
      emptied(150, 6 * MINUTE),
      emptied(0, 7 * MINUTE),
      emptied(0, 11 * MINUTE),
    ];
    expect(sentAt(looks).flat().map(about)).toEqual([
      'firing 200/200',
      'resolved 50/50',
      'resolved 150/150',
    ]);
  });

  it('go on after a clock that was wrong', () => {
    const before = { ...NO_ALERTS, groups: { 'firing\nDELETIONS_HELD': NOW + 86_400_000 } };
    expect(evaluateAll(before, emptied(1, 0), true).alerts.map(about)).toEqual(['firing frm_0']);
  });

  it('are one thread with the end of each, and with that of all', () => {
    const looks = [
      emptied(9, 0),
      emptied(8, MINUTE),
      emptied(0, 2 * MINUTE),
      emptied(0, 9 * MINUTE),
    ];
    const sent = sentAt(looks).flat();
    expect(sent.map(about)).toEqual(['firing 9/9', 'resolved frm_8', 'resolved 8/8']);
    expect(new Set(sent.map((alert) => alertNotice(alert).thread)).size).toBe(1);
    expect(sent.map(({ opens }) => opens)).toEqual([true, false, false]);
    const next = sentAt([...looks, emptied(9, 30 * MINUTE)]).flat();
    expect(alertNotice(next.at(-1)!).thread).not.toBe(alertNotice(next[0]!).thread);
  });

  it('name the form where it is one in several targets', () => {
    const [[alert] = []] = sentAt([emptied(2, 0)]);
    const [first] = alert!.members!;
    const members = [first!, { ...first!, subject: { ...first!.subject, target: 'b' } }];
    const { headline, lines } = alertNotice({ ...alert!, forms: 1, members });
    expect(headline).toBe('forms-mirror, Form 0 in 2 targets: Deletions withheld');
    expect(lines).toEqual(['Form 0 → db', 'Form 0 → b']);
  });

  it('name the forms and what to do about each, and no command of one', () => {
    const [[alert] = []] = sentAt([emptied(7, 0)]);
    const message = alertMessage(alertNotice(alert!));
    expect(message.text).toMatch(
      /^🟠 forms-mirror, 7 forms in target db: Deletions withheld\. 30 rows are absent .* They are: Form 0 → db, .*Form 4 → db, and 2 others\. /,
    );
    expect(message).toMatchObject({ form: null, target: 'db', code: 'DELETIONS_HELD' });
    expect(message.forms).toHaveLength(7);
    expect(message.remedy).not.toContain('--accept-deletes');
    expect(message.remedy).toContain('forms-mirror check');
  });
});
