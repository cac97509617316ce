import { projectText } from './readme.ts';

/** A question of the page for analysts, with its query in one database. */
export interface AnalystQuery {
  readonly question: string;
  readonly sql: string;
}

/** The kinds of database that the page has queries for. */
export type AnalystDatabase = 'sqlite' | 'postgres' | 'mariadb';

/** The questions of docs/analysts.md, each with its query in that database. Throws where one has none. */
export function analystQueries(database: AnalystDatabase): AnalystQuery[] {
  const page = projectText('docs/analysts.md');
  const [, questions = ''] = page.split(/^## .* questions$/m);
  const [asked = ''] = questions.split(/^## /m);
  return asked
    .split(/^### /m)
    .slice(1)
    .map((part) => {
      const question = part.split('\n', 1)[0]!.replace(/^\d+\. /, '');
      const blocks = [...part.matchAll(/^```sql ?([a-z ]*)\n([\s\S]*?)^```$/gm)];
      const [, , sql] =
        blocks.find(([, for_ = '']) => for_ === '' || for_.split(' ').includes(database)) ?? [];
      if (sql === undefined) throw new Error(`no query for ${database}: ${question}`);
      return { question, sql: sql.trim().replace(/;$/, '') };
    });
}
