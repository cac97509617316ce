import type { SandboxBehaviour } from './behaviour.ts';
import type { SandboxField, SandboxForm } from './workspace-forms.ts';
import type { Wire } from './json.ts';
import type { FormsStore, StoredSubmission } from './store.ts';

/** An object on its way to the wire. */
export type WireObject = { [key: string]: Wire };

/** A form as the API shows it. */
export function showForm(
  form: SandboxForm,
  store: FormsStore,
  behaviour: SandboxBehaviour,
): WireObject {
  const extra = behaviour.extraFields;
  const sections = form.sections?.map(({ fields }, place) => ({
    ...(fields && { fields: fields.map((field) => showField(field, extra)) }),
    ...(extra && { id: `section_${place}`, title: '' }),
  }));
  return {
    id: form.id,
    name: form.name,
    slug: form.slug,
    isPublished: form.isPublished,
    createdAt: new Date(form.createdAtMs).toISOString(),
    schema: { ...(sections && { sections }), logic: [], ...(extra && { version: 3 }) },
    ...(extra && { theme: { color: '#3366ff' }, responsesCount: null }),
    ...store.distortionOf(form.id),
  };
}

/** A submission as the API shows it. */
export function showSubmission(
  submission: StoredSubmission,
  store: FormsStore,
  behaviour: SandboxBehaviour,
): WireObject {
  const { id, formId, status, createdAt, data } = submission;
  return {
    id,
    ...(behaviour.shownFormId === 'shown' && { formId }),
    status,
    createdAt,
    data,
    ...(behaviour.extraFields && {
      updatedAt: new Date(submission.updatedAtMs).toISOString(),
      source: { kind: 'web', tags: [] },
      score: null,
    }),
    ...store.distortionOf(id),
  };
}

function showField(field: SandboxField, extra: boolean): WireObject {
  const { id, label, kind, required } = field;
  return { id, label, ...(extra && { type: kind, required, options: [] }) };
}
