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
