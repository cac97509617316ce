import type { Form, FormField } from '../mirror/types.ts';
import { formSchema } from './schemas.ts';
import { isJsonObject } from './json-object.ts';

/** A form from its JSON, bare or wrapped in one property; undefined when it is none. */
export function formFromWire(json: unknown): Form | undefined {
  const parsed = formSchema.safeParse(unwrapped(json));
  if (!parsed.success) return undefined;
  const { id, slug, name, schema } = parsed.data;
  const fields = new Map<string, FormField>();
  for (const field of schema.sections.flatMap((section) => section.fields)) {
    if (!fields.has(field.id)) fields.set(field.id, { id: field.id, label: field.label ?? '' });
  }
  const ownSlug = slug === undefined || slug === '' ? id : slug;
  return {
    id,
    slug: ownSlug,
    name: name === undefined || name.trim() === '' ? ownSlug : name,
    fields: [...fields.values()],
  };
}

/** The documentation shows a form bare; for a submission it leaves open whether there is a wrapper, so we look here too. */
function unwrapped(json: unknown): unknown {
  if (!isJsonObject(json) || Object.hasOwn(json, 'id')) return json;
  const inside = Object.values(json).filter(
    (value) => isJsonObject(value) && Object.hasOwn(value, 'id'),
  );
  return inside.length === 1 ? inside[0] : json;
}
