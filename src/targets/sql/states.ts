import { EMPTY_TALLY, type FormState } from '../../core/mirror/form-state.ts';
import { type Session, type SqlField, type SqlRow, textOf } from './database.ts';

/** What is kept of a form: its revision, its state, its fields. */
export const readState = async (session: Session, formId: string): Promise<SqlRow | undefined> =>
  (
    await session.query('SELECT revision, state, fields FROM _mirror_state WHERE form_id = $1', [
      formId,
    ])
  )[0];

/** The state as it is kept; what a later build adds has its default. */
export const stateOf = (row: SqlRow): FormState => {
  const kept = JSON.parse(textOf(row['state'])) as FormState;
  return { ...kept, tally: { ...EMPTY_TALLY, ...kept.tally } };
};

export const fieldsOf = (row: SqlRow): readonly SqlField[] =>
  JSON.parse(textOf(row['fields'])) as readonly SqlField[];
