import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExactNumber } from '../../../src/mirror/types.ts';
import type { SandboxForm } from '../../../src/sandbox/forms-api/workspace-forms.ts';
import { decodeJson, encodeJson } from '../../../src/sandbox/forms-api/json.ts';
import {
  addOddForm,
  ODD_ANSWERS,
  ODD_FIELD_IDS,
  ODD_LABELS,
  ODD_SCHEMAS,
  ODD_SUBMISSIONS,
} from './odd-data.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/forms-api/sandbox.ts';
import { FormsStore } from '../../../src/sandbox/forms-api/store.ts';
import { call, get } from './caller.ts';

let sandbox: Sandbox;
let store: FormsStore;
let form: SandboxForm;

beforeAll(async () => {
  store = new FormsStore({ seed: 'odd' });
  form = addOddForm(store);
  sandbox = await startSandbox({ store });
});

afterAll(() => sandbox.stop());

const answered = Object.entries(ODD_ANSWERS);
const distorted = Object.entries(ODD_SUBMISSIONS);

describe('odd answers', () => {
  it.each(answered.map(([name, answer], place) => [name, answer, place] as const))(
    'reach the wire unchanged: %s',
    async (_name, answer, place) => {
      const { text } = await call(sandbox, 'GET', `/submissions/${store.ids(form.id)[place]}`);
      const shown = encodeJson(answer);
      expect(text).toContain(`"data":{"field_0_first":${shown},"__proto__":${shown}}`);
    },
  );

  it('that are numbers beyond a double come digit by digit', async () => {
    const { text } = await call(sandbox, 'GET', '/submissions?limit=100');
    for (const digits of ['9007199254740993', '1e400', '-0', '{"amount":12345678901234567890}']) {
      expect(text).toContain(`"field_0_first":${digits}`);
    }
  });

  it('that are submitted are stored unchanged', async () => {
    const data =
      '{"__proto__":1,"big":9007199254740993,"deep":[{"x":1.50}],"plain":0.1,"none":null}';
    const path = `/forms/${form.slug}/submit`;
    const { status, text } = await call(sandbox, 'POST', path, { body: `{"data":${data}}` });
    expect(status).toBe(201);
    expect(text).toContain(`"data":${data}`);
    const last = store.get(store.ids(form.id).at(-1) ?? '');
    expect(last?.data.get('big')).toEqual(new ExactNumber('9007199254740993'));
    expect(last?.data.get('plain')).toBe(0.1);
    store.delete(last?.id ?? '');
  });

  it('survive a round trip through text', () => {
    for (const [, answer] of answered)
      expect(encodeJson(decodeJson(encodeJson(answer)))).toBe(encodeJson(answer));
  });
});

describe('odd labels and field IDs', () => {
  it('are shown unchanged, in form order', async () => {
    const { schema } = await get(sandbox, `/forms/${form.id}`);
    const fields = schema.sections[0]?.fields ?? [];
    expect(fields.slice(1, 1 + ODD_LABELS.length).map(({ label }) => label)).toEqual(ODD_LABELS);
    expect(fields.slice(1 + ODD_LABELS.length).map(({ id }) => id)).toEqual(ODD_FIELD_IDS);
  });
});

describe('odd submissions', () => {
  it.each(distorted.map(([name, distortion], place) => [name, distortion, place] as const))(
    'are shown unchanged, single and in lists: %s',
    async (name, distortion, place) => {
      const id = store.ids(form.id)[answered.length + place] ?? '';
      const shown = await get(sandbox, `/submissions/${id}`);
      const usual = { id, formId: form.id, status: 'NEW', createdAt: store.get(id)?.createdAt };
      const expected = JSON.parse(
        encodeJson({ ...usual, data: { field_0_first: name }, ...distortion }),
      ) as unknown;
      expect(shown).toEqual(expected);
      const list = await get(sandbox, `/submissions?limit=100&formId=${form.id}`);
      expect(list.items).toContainEqual(expected);
      expect(list.total).toBe(answered.length + distorted.length);
    },
  );

  it('are as usual again when the distortion is undone', async () => {
    const id = store.ids(form.id)[0] ?? '';
    store.distort(id, { data: undefined });
    expect(await get(sandbox, `/submissions/${id}`)).not.toHaveProperty('data');
    store.distort(id, undefined);
    expect(await get(sandbox, `/submissions/${id}`)).toHaveProperty('data');
  });
});

describe('odd schemas', () => {
  it.each(Object.entries(ODD_SCHEMAS))('are shown unchanged: %s', async (_name, distortion) => {
    store.distort(form.id, distortion);
    const shown = await get(sandbox, `/forms/${form.id}`);
    expect(shown.schema).toEqual(distortion['schema']);
    const { items } = await get(sandbox, '/forms');
    expect(items[0]?.schema).toEqual(distortion['schema']);
    store.distort(form.id, undefined);
  });
});
