import { beforeEach } from 'vitest';
import type { HistoryKind } from '../../src/mirror/histories.ts';
import type { FormWriter } from '../../src/mirror/target.ts';
import type { PickedField } from '../../src/mirror/types.ts';
import { TestClock } from '../support/test-clock.ts';
import { sqlOf } from './sql-by-hand.ts';
import { AGE, AT_ONCE, FORM, NAME, row } from './target-harness.ts';
import type { QueriedStage } from './sql-target.ts';

export const BEGIN = Date.UTC(2026, 2, 5);
export const MINUTE = 60_000;
/** The time so many minutes after the first. */
export const minute = (nth: number): string => new Date(BEGIN + nth * MINUTE).toISOString();

/** A time that a database gave, as ISO. */
export const timeOf = (value: unknown): string | null =>
  value === null ? null : new Date(value as string).toISOString();
/** What each database calls true. */
export const isTrue = (value: unknown): boolean => value === true || Number(value) === 1;

interface WriteOptions {
  readonly fields?: readonly PickedField[];
  readonly history?: HistoryKind;
}

/** Writes a form whose history is kept, and reads that; for the tests of one `describe`. */
export function rowVersions(stage: QueriedStage) {
  let clock: TestClock;
  beforeEach(() => {
    clock = new TestClock(BEGIN);
  });
  /** Writes once; a minute later is the next time. */
  const write = async <T>(
    work: (writer: FormWriter) => Promise<T>,
    { fields = [NAME, AGE], history = 'full' }: WriteOptions = {},
  ): Promise<T> => {
    await using target = await stage.place.open('default', clock, history);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare(fields);
    const result = await work(writer);
    await clock.sleep(MINUTE);
    return result;
  };
  const named = (id: string, name: string, status = 'NEW') =>
    row(id, { field_1_a: name }, { status });
  const apply = (...rows: ReturnType<typeof row>[]) => write((writer) => writer.apply(rows, []));
  const sql = (text: string) => sqlOf(stage)(text);
  /** The versions of a submission: name, whether it is deleted, from when, to when. */
  const versionsOf = async (id: string) =>
    (
      await sql(
        `SELECT full_name, _is_deleted, _valid_from, _valid_to FROM {contact_form_history}
         WHERE id = '${id}' ORDER BY _valid_from`,
      )
    ).map((one) => [
      one['full_name'],
      isTrue(one['_is_deleted']),
      timeOf(one['_valid_from']),
      timeOf(one['_valid_to']),
    ]);
  return {
    write,
    named,
    apply,
    sql,
    versionsOf,
    get clock() {
      return clock;
    },
    /** Another clock from now on. */
    setClock(other: TestClock) {
      clock = other;
    },
  };
}
