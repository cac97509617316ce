/** Months that rows are dated in. */
export const MONTHS = ['2026-01', '2026-02', '2026-03'];
/** How many rows of each, and without a date. */
export const ROWS_A_MONTH = 200;

/** Rows of three months, and as many without a date, as one JSON text. */
export function rowsOf() {
  const rows = [...MONTHS, null].flatMap((month) =>
    Array.from({ length: ROWS_A_MONTH }, (_, at) => ({
      i: `${month ?? 'none'} ${at}`,
      c: month === null ? null : `${month}-15T12:00:00Z`,
      a: 'x'.repeat(50),
    })),
  );
  return { rows: { type: 'STRING', value: JSON.stringify(rows) } } as const;
}

/** Stores those of {@link rowsOf} that are not there. */
export const mergeInto = (table: string): string =>
  `MERGE \`${table}\` AS t
   USING (
     SELECT JSON_VALUE(r, '$.i') AS id, CAST(JSON_VALUE(r, '$.c') AS TIMESTAMP) AS created_at, JSON_VALUE(r, '$.a') AS answer
     FROM UNNEST(JSON_QUERY_ARRAY(@rows)) AS r
   ) AS s
   ON t.id = s.id
   WHEN NOT MATCHED THEN INSERT (id, created_at, answer) VALUES (s.id, s.created_at, s.answer)`;

/** Reads a column of a table, as no cache and no metadata answers it. */
export const counting = (table: string, column = 'answer'): string =>
  `SELECT COUNT(${column}) AS n FROM \`${table}\` WHERE CURRENT_TIMESTAMP() > TIMESTAMP '2000-01-01 00:00:00+00'`;

/** The rows of a month, by its bounds as literals. */
export function within(month: string, alias = ''): string {
  const next = new Date(`${month}-01T00:00:00Z`);
  next.setUTCMonth(next.getUTCMonth() + 1);
  const end = next.toISOString().slice(0, 10);
  return `(${alias}created_at >= TIMESTAMP '${month}-01 00:00:00+00' AND ${alias}created_at < TIMESTAMP '${end} 00:00:00+00')`;
}
