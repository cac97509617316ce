import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

const FORM = 'frm_contact';
const NAME = 2;

describe('a protected header that its owner writes', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(6);
    mirror.person.protect({ top: 0, bottom: 1 });
    mirror.store.relabelField(FORM, 'field_name', 'Full name');
    mirror.store.relabelField(FORM, 'field_age', 'Years');
    await mirror.pass('full');
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const notices = async (): Promise<string[]> =>
    ((await mirror.overview())?.notices ?? []).map(({ message }) => message);

  it.each(['Full name', 'Who'])('waits no longer: %s', async (text) => {
    expect((await notices()).join()).toContain('2 headers do not show the labels');
    mirror.person.type(0, NAME, text);
    await mirror.pass();
    expect((await notices()).join()).toContain('1 header does not show the label');
    mirror.person.type(0, NAME + 1, 'Years');
    await mirror.pass();
    expect(await notices()).toEqual([]);
    mirror.place.sandbox.requests.clear();
    await mirror.pass();
    const { reads, writes } = mirror.place.sandbox.requests.counts();
    expect([reads <= 2, writes]).toEqual([true, 0]);
    expect(mirror.grid()[0]?.slice(NAME, NAME + 2)).toEqual([text, 'Years']);
  });
});
