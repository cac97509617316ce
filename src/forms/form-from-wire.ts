import type { Form, FormField } from '../mirror/types.ts';
import { formSchema } from './schemas.ts';
import { isJsonObject, unwrap } from './unwrap.ts';

/** A form from its JSON, bare or wrapped in one property; undefined when it is none. */
export function formFromWire(json: unknown): Form | undefined {
  const bare = unwrap(json, (value) => isJsonObject(value) && Object.hasOwn(value, 'id'));
  const parsed = formSchema.safeParse(bare);
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
