import { throwIfAborted } from '../base/clock.ts';
import { isAbort } from '../base/errors.ts';
import type { FormsClient } from '../forms/client.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { Source } from './source.ts';

/** No number in a response decides how many pages are asked for. */
const MOST_KNOWN = 1_000_000;

/** The pages to read of a form: all of up to 2,000 submissions; of a larger form a sample over its whole life. */
const MOST_PAGES = 20;

/** So many forms that cannot be read mean that the source is away: the others are not tried, which would take minutes. */
const MOST_FAILURES = 3;

/**
 * The fields that old answers still have, although no form shows them. A field is given as its ID, in any form, or
 * as `<form ID>:<field ID>`. Reads each form's newest and oldest pages and others evenly between them, until all are
 * found. `failure`: of the last form that could not be read, so that it may have those that were not found; null without one.
 * Rejects only when aborted.
 */
export async function fieldsInAnswers(
  client: FormsClient,
  forms: readonly Pick<FormIdentity, 'id'>[],
  wanted: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<{ readonly found: ReadonlySet<string>; readonly failure: unknown }> {
  const source = new Source(client, 1, signal);
  const found = new Set<string>();
  const failures: unknown[] = [];
  for (const { id } of forms) {
    const look = async (page: number): Promise<number> => {
      throwIfAborted(signal);
      const { items, total } = await source.page({ formId: id }, page);
      for (const { submission } of items) {
        for (const field of submission?.data.keys() ?? []) {
          for (const name of [field, `${id}:${field}`]) if (wanted.has(name)) found.add(name);
        }
      }
      return Math.ceil(total / Math.max(1, items.length));
    };
    // A form that does not answer hides no field of another one (L12).
    try {
      const last = Math.min(await look(1), MOST_KNOWN);
      for (const page of spread(last)) {
        if (found.size === wanted.size) break;
        await look(page);
      }
    } catch (error) {
      if (isAbort(error)) throw error;
      failures.push(error);
    }
    if (found.size === wanted.size || failures.length === MOST_FAILURES) break;
  }
  return { found, failure: failures.at(-1) ?? null };
}

/** Pages 2 to `last`, at most {@link MOST_PAGES} of them, the last one first: the oldest answers carry deleted fields. */
function spread(last: number): number[] {
  const step = Math.max(1, (last - 1) / MOST_PAGES);
  const pages = new Set<number>();
  for (let page = last; page >= 2; page -= step) pages.add(Math.round(page));
  return [...pages].filter((page) => page >= 2);
}
