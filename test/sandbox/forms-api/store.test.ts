import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_BEHAVIOUR } from '../../../src/sandbox/forms-api/behaviour.ts';
import { parseListQuery } from '../../../src/sandbox/forms-api/list-query.ts';
import { OrderIndex } from '../../../src/sandbox/forms-api/order-index.ts';
import { FormsStore } from '../../../src/sandbox/forms-api/store.ts';
import { SubmissionIds } from '../../../src/sandbox/forms-api/submission-ids.ts';
import { SubmissionLists } from '../../../src/sandbox/forms-api/submission-lists.ts';
import { propertyRuns } from '../../support/property.ts';

const NOON = Date.UTC(2026, 4, 1, 12);

function smallStore(seed: number | string = 1) {
  let nowMs = NOON;
  const store = new FormsStore({ seed, clock: { now: () => nowMs++ } });
  const form = store.addForm({ name: 'Form' });
  return { store, formId: form.id };
}

describe('the IDs of submissions', () => {
  it('are a permutation: each index has its own, and the ID leads back to it', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 2 ** 32 }), (seed, index) => {
        const ids = new SubmissionIds(seed);
        expect(ids.indexOf(ids.idOf(index))).toBe(index);
        expect(ids.idOf(index)).not.toBe(ids.idOf(index + 1));
      }),
      propertyRuns(500),
    );
  });

  it('compare as their numbers do, and are not in order of insertion', () => {
    const ids = new SubmissionIds('order');
    const indexes = Array.from({ length: 200 }, (_, index) => index);
    const byNumber = indexes.toSorted((left, right) => ids.scrambled(left) - ids.scrambled(right));
    const byId = indexes.toSorted((left, right) => (ids.idOf(left) < ids.idOf(right) ? -1 : 1));
    expect(byNumber).toEqual(byId);
    expect(byId).not.toEqual(indexes);
  });

  it('depend on the seed', () => {
    const made = (seed: number) => {
      const { store, formId } = smallStore(seed);
      const { id } = store.insert({ formId, data: {} });
      return [formId, id, store.addField(formId, { label: 'A' }).id];
    };
    expect(made(1)).toEqual(made(1));
    for (const [place, id] of made(1).entries()) expect(id).not.toBe(made(2)[place]);
  });

  it('may be given; a taken one is refused', () => {
    const { store, formId } = smallStore();
    store.insert({ formId, data: {}, id: 'legacy/1' });
    const { id } = store.insert({ formId, data: {} });
    expect(store.get('legacy/1')?.id).toBe('legacy/1');
    expect(() => store.insert({ formId, data: {}, id: 'legacy/1' })).toThrow('taken');
    expect(() => store.insert({ formId, data: {}, id })).toThrow('taken');
    expect(store.count()).toBe(2);
  });
});

describe('the store', () => {
  it('shows createdAt as given, and sorts a broken one as new', () => {
    const { store, formId } = smallStore();
    const texts = ['2020-01-01T01:00:00+02:00', 'yesterday', '2021-01-01T00:00:00.123456Z'];
    const ids = texts.map((createdAt) => store.insert({ formId, data: {}, createdAt }).id);
    expect(ids.map((id) => store.get(id)?.createdAt)).toEqual(texts);
    const order = Array.from(store.ordered('time', formId), (index) => store.at(index).createdAt);
    expect(order).toEqual([texts[0], texts[2], texts[1]]);
  });

  it('copies answers: callers cannot change them afterwards', () => {
    const { store, formId } = smallStore();
    const data = new Map([['a', 'before']]);
    const { id } = store.insert({ formId, data });
    data.set('a', 'after');
    expect(store.get(id)?.data.get('a')).toBe('before');
  });

  it('takes a deleted form’s submissions away, and brings them back with it', () => {
    const { store, formId } = smallStore();
    const other = store.addForm({ name: 'Other' });
    const [mine, gone] = [0, 1].map(() => store.insert({ formId, data: {} }).id);
    const theirs = store.insert({ formId: other.id, data: {} }).id;
    store.ordered('time');
    store.deleteForm(formId);
    store.delete(gone!);
    expect([store.get(mine!), store.count(formId), store.ids()]).toEqual([undefined, 0, [theirs]]);
    store.restoreForm(formId);
    expect(store.ids()).toEqual([mine, theirs]);
    expect(store.forms().map(({ id }) => id)).toEqual([formId, other.id]);
  });

  it('renames forms; a slug that is taken is refused', () => {
    const { store, formId } = smallStore();
    const other = store.addForm({ name: 'Other' });
    store.renameForm(formId, { name: 'Formulář', slug: 'formular' });
    expect(store.formBySlug('formular')).toMatchObject({ id: formId, name: 'Formulář' });
    expect(store.formBySlug('form')).toBeUndefined();
    expect(() => store.renameForm(other.id, { slug: 'formular' })).toThrow('/formular already');
    store.renameForm(formId, { slug: 'formular' });
    expect(store.form(formId)?.name).toBe('Formulář');
  });

  it('refuses IDs that never were', () => {
    const { store, formId } = smallStore();
    expect(() => store.insert({ formId: 'nothing', data: {} })).toThrow('no form nothing');
    expect(() => store.setStatus('nothing', 'DONE')).toThrow('no submission nothing');
    expect(() => store.delete('sub_0000000000')).toThrow('no submission');
    expect(() => store.relabelField(formId, 'nothing', 'A')).toThrow('no field nothing');
    expect(() => store.deleteField(formId, 'nothing')).toThrow('no field nothing');
    expect(() => store.addForm({ name: 'Form' })).toThrow('already');
  });

  it('answers a series on demand, and lets single answers be changed', () => {
    const { store, formId } = smallStore();
    const first = store.insert({ formId, data: { a: 'single' } });
    store.insertSeries({
      formId,
      count: 1000,
      createdAtMs: (number) => NOON - number,
      status: (number) => (number % 2 === 0 ? 'NEW' : 'DONE'),
      answers: (number) => new Map([['a', number]]),
    });
    const last = store.insert({ formId, data: { a: 'last' } });
    const ids = store.ids();
    const answer = (id: string | undefined) => store.get(id ?? '')?.data.get('a');
    expect([answer(first.id), answer(ids[1]), answer(ids[1000]), answer(last.id)]).toEqual([
      'single',
      0,
      999,
      'last',
    ]);
    store.setAnswers(ids[7]!, { a: 'edited' });
    expect([answer(ids[6]), answer(ids[7]), answer(ids[8])]).toEqual([5, 'edited', 7]);
    expect(store.get(ids[2]!)?.status).toBe('DONE');
  });
});

describe('an order', () => {
  it('sorts the submissions it takes over, and survives the removal of one it does not hold', () => {
    const order = new OrderIndex(Uint32Array.of(30, 10, 20), (left, right) => left - right);
    for (const absent of [5, 15, 35]) order.remove(absent);
    expect([...order.items()]).toEqual([10, 20, 30]);
    order.insert(15);
    order.remove(30);
    expect([order.length, ...order.items()]).toEqual([3, 10, 15, 20]);
  });
});

/** Events of a store, as numbers that choose the submission. */
const arbitraryStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('insert'), form: fc.nat(2), ago: fc.nat(5) }),
  },
  fc.record({ do: fc.constant('delete'), pick: fc.nat() }),
  fc.record({ do: fc.constant('restore'), pick: fc.nat() }),
  fc.record({ do: fc.constant('status'), pick: fc.nat(), to: fc.constantFrom('DONE', 'PAID') }),
  fc.record({ do: fc.constant('series'), form: fc.nat(2), count: fc.nat(4) }),
  fc.record({ do: fc.constant('form'), form: fc.nat(2), gone: fc.boolean() }),
);

interface Known {
  id: string;
  formId: string;
  createdAtMs: number;
  status: string;
  gone: boolean;
}

describe('lists', () => {
  // The store keeps orders up to date; the model sorts each time.
  it('agree with a plain array that is filtered and sorted for each request', () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryStep, { maxLength: 60 }),
        fc.constantFrom('newest', 'oldest', 'insertion', 'id'),
        (steps, baseOrder) => {
          const store = new FormsStore({ seed: 3, clock: { now: () => NOON } });
          const lists = new SubmissionLists(store);
          const forms = ['A', 'B', 'C'].map((name) => store.addForm({ name }).id);
          const goneForms = new Set<string>();
          const model: Known[] = [];
          const behaviour = { ...DEFAULT_BEHAVIOUR, baseOrder };

          const expectEqual = (query: string, wanted: (known: Known) => boolean): void => {
            const found = lists.page(
              parseListQuery(new URLSearchParams(query), behaviour),
              behaviour,
              1,
            );
            const existing = model.filter(
              (known) => !known.gone && !goneForms.has(known.formId) && wanted(known),
            );
            expect(found.items.map(({ id }) => id)).toEqual(
              ordered(existing, baseOrder).map(({ id }) => id),
            );
            expect(found.total).toBe(existing.length);
          };

          for (const step of steps) {
            const formId = 'form' in step ? forms[step.form]! : '';
            const target =
              'pick' in step ? model[step.pick % Math.max(1, model.length)] : undefined;
            if (step.do === 'insert' && 'ago' in step) {
              const createdAtMs = NOON - step.ago;
              const { id } = store.insert({ formId, data: {}, createdAt: createdAtMs });
              model.push({ id, formId, createdAtMs, status: 'NEW', gone: false });
            } else if ('count' in step) {
              const createdAtMs = (number: number): number => NOON - 3 + number;
              const before = model.length;
              const series = { formId, count: step.count, createdAtMs };
              store.insertSeries({ ...series, status: () => 'NEW', answers: () => new Map() });
              for (let number = 0; number < step.count; number++) {
                const id = new SubmissionIds(3).idOf(before + number);
                const time = createdAtMs(number);
                model.push({ id, formId, createdAtMs: time, status: 'NEW', gone: false });
              }
            } else if ('gone' in step) {
              if (step.gone) store.deleteForm(formId);
              else store.restoreForm(formId);
              goneForms[step.gone ? 'add' : 'delete'](formId);
            } else if (target !== undefined) {
              if ('to' in step) {
                store.setStatus(target.id, step.to);
                target.status = step.to;
              } else {
                store[step.do === 'delete' ? 'delete' : 'restore'](target.id);
                target.gone = step.do === 'delete';
              }
            }
            expectEqual('limit=100', () => true);
            expectEqual(`limit=100&formId=${forms[0]}`, (known) => known.formId === forms[0]);
            expectEqual('limit=100&status=DONE', ({ status }) => status === 'DONE');
            const to = new Date(NOON - 1).toISOString();
            expectEqual(
              `limit=100&status=NEW&dateTo=${to}`,
              (known) => known.status === 'NEW' && known.createdAtMs <= NOON - 1,
            );
            const from = new Date(NOON - 2).toISOString();
            expectEqual(
              `limit=100&formId=${forms[1]}&dateFrom=${from}`,
              (known) => known.formId === forms[1] && known.createdAtMs >= NOON - 2,
            );
          }
        },
      ),
      propertyRuns(100),
    );
  });

  it('remember a filter only until the store changes', () => {
    const { store, formId } = smallStore();
    const lists = new SubmissionLists(store);
    const total = () =>
      lists.page(
        parseListQuery(new URLSearchParams('search=needle'), DEFAULT_BEHAVIOUR),
        DEFAULT_BEHAVIOUR,
        1,
      ).total;
    expect(total()).toBe(0);
    const { id } = store.insert({ formId, data: { a: ['deep', { b: 'Needle' }] } });
    expect(total()).toBe(1);
    store.setAnswers(id, { a: 'hay' });
    expect(total()).toBe(0);
  });
});

/** By the four base orders; ties as the store has them: in order of insertion, reversed when descending. */
function ordered(known: readonly Known[], baseOrder: string): Known[] {
  if (baseOrder === 'insertion') return [...known];
  if (baseOrder === 'id') return known.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const ascending = known.toSorted((left, right) => left.createdAtMs - right.createdAtMs);
  return baseOrder === 'newest' ? ascending.reverse() : ascending;
}
