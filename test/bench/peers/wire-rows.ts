import { FORM_ID } from '../source/canned-source.ts';
import { eachPage } from '../stages/program.ts';
import type { StageCall } from '../stages/stage.ts';

/** A submission as the source sends it. */
export interface WireRow {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The first rows of the source, read without any code of the program. */
export async function wireRows({ env, rows }: StageCall): Promise<WireRow[]> {
  const found: WireRow[] = [];
  const headers = { authorization: `Bearer ${env.FORMS_API_KEY}` };
  await eachPage(rows, 1, async (page) => {
    const url = `${env.FORMS_API_URL}/submissions?formId=${FORM_ID}&page=${page}&limit=100`;
    const { items } = (await (await fetch(url, { headers })).json()) as { items: WireRow[] };
    found.push(...items);
  });
  return found;
}
