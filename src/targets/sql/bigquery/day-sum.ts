import { z } from 'zod';
import { DAY_KEY, STATE } from './catalogue-shapes.ts';
import { numberParameter, type Statement, textParameter } from './sql-text.ts';
import type { Store } from './store.ts';

/*
 * What was billed on a day, by all processes: kept in the dataset where a setting limits it, so that neither several workers nor
 * restarts take more. It is one more statement a commit, which nobody pays who has set no limit.
 */

const DAY = z.object({ day: z.string(), bytesBilled: z.number(), statements: z.number() });

/** Tells this process what the dataset says of the day. */
export function seeDay({ jobs }: Store, text: string | null): void {
  if (text === null) return;
  try {
    const parsed = DAY.safeParse(JSON.parse(text));
    if (parsed.success) jobs.spending.seen(parsed.data);
  } catch {
    // Nothing was billed yet that anybody counted.
  }
}

/** Adds to it what this process was billed since, in a commit; undefined where that is not counted, or nothing was. */
export function daySum({
  jobs,
  relation,
}: Store): { readonly statement: Statement; readonly saved: () => void } | undefined {
  const { spending } = jobs;
  if (spending.maxBytes === undefined) return undefined;
  const part = spending.unsaved();
  if (part.statements === 0) return undefined;
  const sum = (name: string): string =>
    `CAST(IF(JSON_VALUE(state, '$.day') = @day, CAST(JSON_VALUE(state, '$.${name}') AS INT64), 0) + @day_${name.toLowerCase()} AS STRING)`;
  return {
    statement: {
      sql: `UPDATE ${relation(STATE)} SET commit_number = commit_number + 1,
          state = CONCAT('{"day":"', @day, '","bytesBilled":', ${sum('bytesBilled')}, ',"statements":', ${sum('statements')}, '}')
        WHERE form_id = '${DAY_KEY}'`,
      parameters: {
        day: textParameter(part.day),
        day_bytesbilled: numberParameter(part.bytesBilled),
        day_statements: numberParameter(part.statements),
      },
      mutates: STATE,
    },
    saved: () => spending.saved(part),
  };
}
