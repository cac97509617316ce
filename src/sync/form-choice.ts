import { printable } from '../base/printable.ts';
import type { FormIdentity } from '../mirror/types.ts';

/** Which forms a target mirrors, as TARGET_FORMS says: all, or form IDs and slugs. */
export type FormChoice = '*' | readonly string[];

/** True when `choice` names the form, by ID or slug. */
export function choosesForm(choice: FormChoice, form: Pick<FormIdentity, 'id' | 'slug'>): boolean {
  return choice === '*' || choice.includes(form.id) || choice.includes(form.slug);
}

/**
 * The form that a person means by an ID, a slug, or, where only one has it, its name, or an ID or slug as shown to
 * people.
 */
export function findForm<T extends FormIdentity>(
  listed: readonly T[],
  wanted: string,
): T | undefined {
  const forms = [...new Map(listed.map((form) => [form.id, form])).values()];
  const exact = forms.find((form) => choosesForm([wanted], form));
  if (exact !== undefined) return exact;
  const named = forms.filter((form) => form.name.toLowerCase() === wanted.toLowerCase());
  if (named.length === 1) return named[0];
  const shown = forms.filter(({ id, slug }) => [id, slug].map(printable).includes(wanted));
  return shown.length === 1 ? shown[0] : undefined;
}
