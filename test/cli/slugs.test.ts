import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FormsStore } from '../../src/sandbox/store.ts';
import type { Environment } from '../../src/settings/settings-reader.ts';
import { expectEnd, runCli, runIn, syncDocument } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const CONTACT = 'frm-contact';
const MEDICAL = 'frm-medical';
const CHOICE = { TARGET_FORMS: 'contact', TARGET_FIELDS: 'contact:*' };

/** A workspace with the forms `contact` and `medical`, and the settings `env` in addition to those of its account. */
async function open(env: Environment) {
  const store = new FormsStore({ seed: 3 });
  const addForm = (id: string, slug: string): void => {
    const field = { id: `field_1_${id}`, label: 'Answer' };
    store.addForm({ id, name: `The form ${id}`, slug, fields: [field] });
    for (let nth = 1; nth <= 3; nth++)
      store.insert({ formId: id, data: { [field.id]: `${id} ${nth}` } });
  };
  addForm(CONTACT, 'contact');
  addForm(MEDICAL, 'medical');
  const place = await openPlace({ store });
  const settings = { ...place.env, ...env };
  const dataDir = settings['DATA_DIR'] ?? '';
  /** Every answer in the copy. */
  const answers = (): string[] =>
    place
      .rows('SELECT table_name FROM mirror_forms')
      .flatMap((form) => place.rows(`SELECT * FROM "${String(form['table_name'])}"`))
      .flatMap(({ answer }) => (typeof answer === 'string' ? [answer] : []))
      .toSorted();
  const sync = async (env = settings, ...options: string[]) => {
    const result = await runCli(['sync', '--json', ...options], env);
    const { runs } = syncDocument(result);
    const codes = runs.map(({ form, code: of }) => `${form} ${of ?? 'ok'}`).toSorted();
    return { code: result.code, codes, errors: runs.map(({ error }) => error).join(' ') };
  };
  return {
    store,
    settings,
    addForm,
    answers,
    sync,
    swap() {
      Object.assign(store.form(CONTACT) ?? {}, { slug: 'swapping' });
      Object.assign(store.form(MEDICAL) ?? {}, { slug: 'contact' });
      Object.assign(store.form(CONTACT) ?? {}, { slug: 'medical' });
    },
    /** On another machine, or after a new deployment: only the target is the same. */
    elsewhere: { ...settings, DATA_DIR: join(dataDir, 'elsewhere') },
  };
}

const answersOf = (id: string): string[] => [1, 2, 3].map((nth) => `${id} ${nth}`);

describe('a slug in the settings', () => {
  it('L11: means the form that it first named, on every machine, even if two forms have swapped slugs', async () => {
    const place = await open(CHOICE);
    expect(await place.sync()).toMatchObject({ code: 0, codes: [`${CONTACT} ok`] });
    place.swap();
    place.store.insert({ formId: CONTACT, data: { [`field_1_${CONTACT}`]: `${CONTACT} 4` } });
    const reused = { code: 1, codes: [`${CONTACT} ok`, `${MEDICAL} SLUG_REUSED`] };
    for (const env of [place.settings, place.elsewhere]) {
      expect(await place.sync(env)).toMatchObject(reused);
      expect(await place.sync(env, '--full')).toMatchObject(reused);
      const { errors } = await place.sync(env, '--form', MEDICAL);
      expect(errors).toContain(
        `TARGET_FORMS and TARGET_FIELDS name contact, which first meant form ${CONTACT}.`,
      );
      expect(errors).toContain(`in place of contact: ${CONTACT} for`);
      expect(errors).toContain(`or ${MEDICAL} for this one.`);
      for (const [command, code] of [
        ['status', 1],
        ['check', 2],
        ['verify', 1],
      ] as const)
        await expectEnd(runCli([command], env), code, 'which first meant form');
    }
    expect(place.answers()).toEqual([...answersOf(CONTACT), `${CONTACT} 4`]);
    const byId = { ...place.settings, TARGET_FORMS: CONTACT, TARGET_FIELDS: `${CONTACT}:*` };
    expect(await place.sync(byId)).toMatchObject({ code: 0, codes: [`${CONTACT} ok`] });
    expect((await runCli(['status'], byId)).stdout).not.toContain('SLUG_REUSED');
    await expectEnd(runCli(['check'], byId), 0);
  });

  it('L11: still means a form that got another slug, although no form has its old one', async () => {
    const place = await open({ ...CHOICE, TARGET_HASH_FIELDS: undefined });
    await place.sync();
    Object.assign(place.store.form(CONTACT) ?? {}, { slug: 'contact-2' });
    place.store.insert({ formId: CONTACT, data: { [`field_1_${CONTACT}`]: `${CONTACT} 4` } });
    for (const env of [place.settings, place.elsewhere]) {
      expect(await place.sync(env)).toMatchObject({ code: 0, codes: [`${CONTACT} ok`] });
      expect(await place.sync(env, '--full')).toMatchObject({ code: 0, codes: [`${CONTACT} ok`] });
      // Its answers are still selected, because its form is.
      for (const command of ['verify', 'check', 'purge --unselected --yes'])
        await expectEnd(runIn(env)(command), 0);
    }
    expect(place.answers()).toEqual([...answersOf(CONTACT), `${CONTACT} 4`]);
  });

  it('L11: does not mean a new form with the slug of a deleted one', async () => {
    const place = await open(CHOICE);
    await place.sync();
    place.store.deleteForm(CONTACT);
    place.addForm('frm-new', 'contact');
    for (const env of [place.settings, place.elsewhere, place.settings]) {
      const { code, codes } = await place.sync(env);
      expect([code, codes]).toEqual([1, expect.arrayContaining(['frm-new SLUG_REUSED'])]);
    }
    expect(place.answers()).toEqual(answersOf(CONTACT));
  });

  it('L11: is recorded by no dry run', async () => {
    const place = await open(CHOICE);
    await place.sync(place.settings, '--dry-run');
    place.swap();
    expect(await place.sync()).toMatchObject({ code: 0, codes: [`${MEDICAL} ok`] });
  });
});
