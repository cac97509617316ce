import { EMPTY_TALLY, type FormState } from '../../mirror/form-state.ts';
import { type Session, type SqlField, type SqlRow, textOf } from './database.ts';

/** The stored record of a form: its revision, state and fields. */
export const readState = async (session: Session, formId: string): Promise<SqlRow | undefined> =>
  (
    await session.query('SELECT revision, state, fields FROM _mirror_state WHERE form_id = $1', [
      formId,
    ])
  )[0];

/** The stored state. A property that a later build added has its default. */
export const stateOf = (row: SqlRow): FormState => {
  const kept = JSON.parse(textOf(row['state'])) as FormState;
  return { ...kept, tally: { ...EMPTY_TALLY, ...kept.tally } };
};

export const fieldsOf = (row: SqlRow): readonly SqlField[] =>
  JSON.parse(textOf(row['fields'])) as readonly SqlField[];
