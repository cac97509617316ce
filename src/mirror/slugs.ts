/*
 * A slug in the settings means the form that it first named (L11): slugs move from form to form at the source. So a target
 * keeps which form that was, for every process that writes there, and over restarts.
 */

/** What a target keeps of slugs. */
export interface KeptSlugs {
  /** IDs of forms by the slug that first named them in the settings. Empty before the first pass of such a form. */
  slugs(): Promise<ReadonlyMap<string, string>>;

  /** Keeps that a slug names a form, unless it names one already. Resolves to the ID of the form that it names. */
  bindSlug(slug: string, formId: string): Promise<string>;
}

/** What is kept as one text, for the stores. */
export const slugsText = (slugs: ReadonlyMap<string, string>): string => JSON.stringify([...slugs]);

/** The reverse; nothing of a text that is none of ours. */
export function slugsFrom(text: string | null): Map<string, string> {
  const slugs = new Map<string, string>();
  for (const pair of listIn(text)) {
    const [slug, formId] = Array.isArray(pair) ? (pair as unknown[]) : [];
    if (typeof slug === 'string' && typeof formId === 'string') slugs.set(slug, formId);
  }
  return slugs;
}

function listIn(text: string | null): unknown[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}
