import anyAscii from 'any-ascii';
import type { Json } from '../../mirror/types.ts';
import type { AnswerKind, Language, SandboxField } from './workspace-forms.ts';
import type { Random } from './random.ts';
import { type Vocabulary, VOCABULARY } from './sample-words.ts';

/** The parts of a field that its sample answers depend on. */
export type AnsweredField = Pick<SandboxField, 'id' | 'kind' | 'options' | 'required'>;

/** One person who fills in a form: the same name in each of its answers. */
interface Respondent {
  readonly words: Vocabulary;
  readonly random: Random;
  readonly firstName: string;
  readonly surname: string;
  readonly place: readonly [postcode: string, city: string];
}

/**
 * Answers of one respondent to these fields, as they look in real life: text with diacritics, leading zeros and line
 * breaks, numbers as numbers; what is not required is sometimes left out, or sent empty.
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
    place: random.pick(words.cities),
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
  postcode: ({ place }) => place[0],
  city: ({ place }) => place[1],
  address: ({ words, random, firstName, surname, place }) =>
    `${firstName} ${surname}\n${random.pick(words.streets)} ${random.int(1, 99)}\n${place[0]} ${place[1]}`,
  date: ({ random }) =>
    `${random.int(1950, 2006)}-${padded(random.int(1, 12))}-${padded(random.int(1, 28))}`,
  url: ({ random }) => `https://cv.example/p/${random.word(8)}?lang=cs&v=${random.int(1, 3)}`,
  code: ({ random }) => String(random.int(1, 99_999)).padStart(8, '0'),
  'long-digits': ({ random }) => `9${digits(random, 18)}`,
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

function digits(random: Random, length: number): string {
  let text = '';
  while (text.length < length) text += random.int(0, 9);
  return text;
}
