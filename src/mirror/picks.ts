import type { Form, FormIdentity } from './types.ts';

/** Which fields may leave the source (L11), as TARGET_FIELDS and TARGET_HASH_FIELDS say it. */
export interface FieldPicks {
  /** `*`: every field of every form. */
  readonly all: boolean;
  /** Form IDs or slugs of the `<form>:*` entries. */
  readonly forms: ReadonlySet<string>;
  /** Field IDs picked one by one. */
  readonly fields: ReadonlySet<string>;
  /** Field IDs stored as a keyed hash. Hashing a field does not pick it. */
  readonly hashed: ReadonlySet<string>;
}

/** Reads the entries of TARGET_FIELDS (`*`, `<form>:*`, field IDs) and TARGET_HASH_FIELDS (field IDs). */
export function parsePicks(fields: readonly string[], hashed: readonly string[] = []): FieldPicks {
  const forms = fields.filter((entry) => entry.endsWith(':*')).map((entry) => entry.slice(0, -2));
  const single = fields.filter((entry) => entry !== '*' && !entry.endsWith(':*'));
  return {
    all: fields.includes('*'),
    forms: new Set(forms),
    fields: new Set(single),
    hashed: new Set(hashed),
  };
}

/** True when every field of `form` is picked, those that only old answers still carry included. */
export function picksWholeForm(picks: FieldPicks, form: FormIdentity): boolean {
  return picks.all || picks.forms.has(form.id) || picks.forms.has(form.slug);
}

/** True when this field's answers may reach the target. */
export function isPicked(picks: FieldPicks, form: FormIdentity, fieldId: string): boolean {
  return picksWholeForm(picks, form) || picks.fields.has(fieldId);
}

/** Entries that name no form and no field of `forms`: likely typing errors. In the order they were given. */
export function unknownPicks(picks: FieldPicks, forms: readonly Form[]): string[] {
  const names = new Set(forms.flatMap((form) => [form.id, form.slug]));
  const ids = new Set(forms.flatMap((form) => form.fields.map((field) => field.id)));
  return [
    ...[...picks.forms].filter((name) => !names.has(name)).map((name) => `${name}:*`),
    ...[...picks.fields].filter((id) => !ids.has(id)),
  ];
}
