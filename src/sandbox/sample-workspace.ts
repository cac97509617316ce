import anyAscii from 'any-ascii';
import type { Json } from '../mirror/types.ts';
import { Random } from './random.ts';
import {
  type AnswerKind,
  type Language,
  SAMPLE_FORMS,
  type SampleForm,
  VOCABULARY,
} from './sample-forms.ts';
import { fieldsOf, FormsStore, type SandboxField } from './store.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The submissions spread over so many days, ending yesterday. */
const DAYS = 180;
/** The part of a form's life after which its deleted field is gone from the answers. */
const DELETED_FIELD_LIFE = 0.4;

/** Options of {@link createSampleWorkspace}. */
export interface SampleOptions {
  /** Determines everything. Default 1. */
  readonly seed?: number | string;
  /** Over all forms. Default 1,250. */
  readonly submissions?: number;
  /** Number of sample forms, 1 to 3. Default 3. */
  readonly forms?: number;
  /** The store's clock. Default: the system's. */
  readonly clock?: { now(): number };
  /** Milliseconds; the end of the submissions. Default: the clock's time. */
  readonly now?: number;
}

/** A workspace with forms and submissions as in real life. A million submissions take some 30 MB: answers are computed when read. */
export function createSampleWorkspace(options: SampleOptions = {}): FormsStore {
  const { seed = 1, submissions = 1250, forms = 3, clock = Date } = options;
  const store = new FormsStore({ seed, clock });
  const chosen = SAMPLE_FORMS.slice(0, Math.max(1, forms));
  const now = options.now ?? clock.now();
  const lastDayMs = Math.floor(now / DAY_MS) * DAY_MS;
  const counts = shared(submissions, chosen);
  for (const [place, sample] of chosen.entries()) {
    addSampleForm(store, sample, {
      count: counts[place] ?? 0,
      firstMs: lastDayMs - DAYS * DAY_MS,
      seed: new Random(seed, place).int(0, 2 ** 31),
    });
  }
  return store;
}

interface Life {
  readonly count: number;
  readonly firstMs: number;
  readonly seed: number;
}

function addSampleForm(
  store: FormsStore,
  { draft, deleted, isPaid }: SampleForm,
  life: Life,
): void {
  const { language = 'en' } = draft;
  const sections = [...draft.sections, { fields: [deleted] }];
  const form = store.addForm({ ...draft, sections, createdAtMs: life.firstMs - 3 * DAY_MS });
  const fields = fieldsOf(form);
  const remaining = fields.slice(0, -1);
  form.sections?.pop();
  for (let number = 0; number < life.count; number++) {
    const answered = number < life.count * DELETED_FIELD_LIFE ? fields : remaining;
    store.insert({
      formId: form.id,
      createdAt: submittedAtMs(number, life),
      status: statusAfter(number, life, isPaid),
      data: () => sampleAnswers(answered, language, new Random(life.seed, number)),
    });
  }
}

/** Evenly over the days, by day from 6 to 23 o'clock; later numbers are never earlier. */
function submittedAtMs(number: number, { count, firstMs, seed }: Life): number {
  const jitter = new Random(seed, 'time', number).next();
  const day = ((number + jitter) / count) * DAYS;
  const hours = 6 + 17 * (day % 1);
  return Math.floor(firstMs + Math.floor(day) * DAY_MS + hours * HOUR_MS);
}

/** Old ones are mostly done with, the newest not yet looked at. */
function statusAfter(number: number, { count, seed }: Life, isPaid: boolean): string {
  const random = new Random(seed, 'status', number);
  const age = 1 - number / count;
  if (random.next() > age * 4) return 'NEW';
  if (random.chance(0.1)) return random.pick(['IN_PROGRESS', 'REJECTED']);
  if (random.chance(age * 0.6)) return 'ARCHIVED';
  return isPaid && random.chance(0.5) ? 'PAID' : 'DONE';
}

/** So many submissions for each form, by share; the first takes what rounding leaves. */
function shared(submissions: number, forms: readonly SampleForm[]): number[] {
  const shares = forms.reduce((sum, { share }) => sum + share, 0);
  const counts = forms.map(({ share }) => Math.floor((submissions * share) / shares));
  const rest = submissions - counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count, place) => (place === 0 ? count + rest : count));
}

/** The parts of a field that its sample answers depend on. */
export type AnsweredField = Pick<SandboxField, 'id' | 'kind' | 'options' | 'required'>;

/** One person who fills in a form: the same name in each of its answers. */
interface Respondent {
  readonly words: (typeof VOCABULARY)[Language];
  readonly random: Random;
  readonly firstName: string;
  readonly surname: string;
  /** Postcode and city. */
  readonly place: readonly string[];
}

/**
 * Answers of one respondent to these fields, as they look in practice: text with diacritics, leading zeros and line
 * breaks, numbers as numbers. Optional answers are sometimes missing or empty.
 */
export function sampleAnswers(
  fields: readonly AnsweredField[],
  language: Language,
  random: Random,
): Map<string, Json> {
  const words = VOCABULARY[language];
  const respondent: Respondent = {
    words,
    random,
    firstName: random.pick(words.firstNames),
    surname: random.pick(words.surnames),
    place: random.pick(words.cities).split('/'),
  };
  const answers = new Map<string, Json>();
  for (const field of fields) {
    const silence = field.required ? 1 : random.next();
    if (silence < 0.12) continue;
    answers.set(field.id, silence < 0.2 ? '' : ANSWERS[field.kind](respondent, field));
  }
  return answers;
}

type Answer = (respondent: Respondent, field: AnsweredField) => string | number;

const ANSWERS: Readonly<Record<AnswerKind, Answer>> = {
  text: ({ words, random }) => random.pick(words.remarks),
  'first-name': ({ firstName }) => firstName,
  surname: ({ surname }) => surname,
  'full-name': ({ firstName, surname }) => `${firstName} ${surname}`,
  email: mailAddress,
  phone: ({ words, random }) =>
    random.pick(words.phones).replaceAll('#', () => String(random.int(0, 9))),
  street: ({ words, random }) => `${random.pick(words.streets)} ${random.int(1, 199)}`,
  postcode: ({ place }) => place[0] ?? '',
  city: ({ place }) => place[1] ?? '',
  date: ({ random }) =>
    `${random.int(1950, 2006)}-${padded(random.int(1, 12))}-${padded(random.int(1, 28))}`,
  url: ({ random }) => `https://cv.example/p/${random.word(8)}?lang=cs&v=${random.int(1, 3)}`,
  code: ({ random }) => String(random.int(1, 99_999)).padStart(8, '0'),
  choice: ({ random }, { options }) => (options.length > 0 ? random.pick(options) : ''),
  choices: ({ random }, { options }) => options.filter(() => random.chance(0.4)).join(', '),
  consent: ({ words }) => words.consent,
  rating: ({ random }) => Math.max(random.int(1, 5), random.int(1, 5)),
  count: ({ random }) => random.int(1, 6),
  salary: ({ random }) => random.int(28, 120) * 1000,
  price: ({ random }) => random.int(199, 49_900) / 100,
  story,
  remark: ({ words, random }) => (random.chance(0.5) ? random.pick(words.remarks) : ''),
};

function mailAddress({ words, random, firstName, surname }: Respondent): string {
  const plain = [firstName, surname].map((name) => anyAscii(name).replaceAll(/[^A-Za-z]/g, ''));
  return `${plain.join('.').toLowerCase()}${random.int(1, 99)}@${random.pick(words.mailHosts)}`;
}

/** A few sentences, the field's own or the language's; now and then in paragraphs, seldom a whole page. */
function story({ words, random }: Respondent, { options }: AnsweredField): string {
  const sentences = options.length > 0 ? options : words.sentences;
  const length = random.chance(0.02) ? random.int(30, 60) : random.int(1, 4);
  const first = random.int(0, sentences.length - 1);
  let text = sentences[first] ?? '';
  for (let count = 1; count < length; count++) {
    const gap = random.chance(0.3) ? '\n\n' : ' ';
    text += gap + (sentences[(first + count) % sentences.length] ?? '');
  }
  return text;
}

const padded = (value: number): string => String(value).padStart(2, '0');
