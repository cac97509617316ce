import type { FormIdentity } from '../mirror/types.ts';

/** Which forms a target mirrors, as TARGET_FORMS says it: all, or form IDs and slugs. */
export type FormChoice = '*' | readonly string[];

/** True when `choice` names the form, by ID or slug. */
export function choosesForm(choice: FormChoice, form: Pick<FormIdentity, 'id' | 'slug'>): boolean {
  return choice === '*' || choice.includes(form.id) || choice.includes(form.slug);
}

/** The names in `choice` that no form has: likely typing errors, or forms that are gone. */
export function unknownForms(choice: FormChoice, forms: readonly FormIdentity[]): string[] {
  if (choice === '*') return [];
  return choice.filter((name) => !forms.some((form) => choosesForm([name], form)));
}

/** The form that a person means by an ID, a slug, or, where only one has it, its name. */
export function findForm<T extends FormIdentity>(
  forms: readonly T[],
  wanted: string,
): T | undefined {
  const exact = forms.find((form) => choosesForm([wanted], form));
  if (exact !== undefined) return exact;
  const named = forms.filter((form) => form.name.toLowerCase() === wanted.toLowerCase());
  return named.length === 1 ? named[0] : undefined;
}
