import anyAscii from 'any-ascii';
import type { Answers, Json } from '../mirror/types.ts';
import type { Random } from './random.ts';
import type { SandboxField } from './store.ts';

/** One person who fills in a form, with the same name in each answer. */
interface Respondent {
  readonly random: Random;
  readonly firstName: string;
  readonly surname: string;
  /** Postcode and city. */
  readonly place: readonly string[];
}

/** A respondent's answer to a field. */
export type Answer = (respondent: Respondent) => string | number;

/**
 * One respondent's answers to these fields, as in practice: text with diacritics, leading zeros and line breaks, numbers as
 * numbers. Optional answers are sometimes missing or empty.
 */
export function sampleAnswers(
  fields: readonly Pick<SandboxField, 'id' | 'answer' | 'required'>[],
  random: Random,
): Answers {
  const respondent: Respondent = {
    random,
    firstName: random.pick(FIRST_NAMES),
    surname: random.pick(SURNAMES),
    place: random.pick(PLACES).split('/'),
  };
  const answers: Record<string, Json> = {};
  for (const { id, answer, required } of fields) {
    const silence = required ? 1 : random.next();
    if (silence < 0.12) continue;
    answers[id] = silence < 0.2 ? '' : answer(respondent);
  }
  return answers;
}

/** Answers, by the question. */
export const ANSWERS = {
  text: ({ random }) => random.pick(REMARKS),
  firstName: ({ firstName }) => firstName,
  surname: ({ surname }) => surname,
  fullName: ({ firstName, surname }) => `${firstName} ${surname}`,
  email: ({ random, firstName, surname }) => {
    const plain = [firstName, surname].map((name) => anyAscii(name).replaceAll(/[^A-Za-z]/g, ''));
    const name = plain.join('.').toLowerCase();
    return `${name}${random.int(1, 99)}@${random.pick(MAIL_HOSTS)}`;
  },
  phone: ({ random }) => random.pick(PHONES).replaceAll('#', () => String(random.int(0, 9))),
  street: ({ random }) => `${random.pick(STREETS)} ${random.int(1, 199)}`,
  postcode: ({ place }) => place[0] ?? '',
  city: ({ place }) => place[1] ?? '',
  date: ({ random }) =>
    `${random.int(1950, 2006)}-${padded(random.int(1, 12))}-${padded(random.int(1, 28))}`,
  url: ({ random }) => `https://cv.example/p/${random.word(8)}?lang=cs&v=${random.int(1, 3)}`,
  code: ({ random }) => String(random.int(1, 99_999)).padStart(8, '0'),
  rating: ({ random }) => Math.max(random.int(1, 5), random.int(1, 5)),
  count: ({ random }) => random.int(1, 6),
  salary: ({ random }) => random.int(28, 120) * 1000,
  price: ({ random }) => random.int(199, 49_900) / 100,
  remark: ({ random }) => (random.chance(0.5) ? random.pick(REMARKS) : ''),
  /** A few sentences, sometimes in paragraphs, rarely a whole page. */
  story: ({ random }) => {
    const length = random.chance(0.02) ? random.int(30, 60) : random.int(1, 4);
    const first = random.int(0, SENTENCES.length - 1);
    let text = SENTENCES[first] ?? '';
    for (let count = 1; count < length; count++) {
      const gap = random.chance(0.3) ? '\n\n' : ' ';
      text += gap + (SENTENCES[(first + count) % SENTENCES.length] ?? '');
    }
    return text;
  },
} as const satisfies Record<string, Answer>;

const padded = (value: number): string => String(value).padStart(2, '0');

/** One of these. */
export const oneOf =
  (...options: readonly string[]): Answer =>
  ({ random }) =>
    random.pick(options);

/** Some of these, separated by commas. */
export const someOf =
  (...options: readonly string[]): Answer =>
  ({ random }) =>
    options.filter(() => random.chance(0.4)).join(', ');

/* Names, towns and texts of respondents. Hosts and numbers are reserved for examples, or not assigned. */

const list = (text: string): string[] => text.split(', ');

const FIRST_NAMES = list(
  'Jiří, Jan, Ondřej, Zdeněk, Kateřina, Věra, Šárka, Růžena, Jürgen, Björn, Günther, Käthe, Anna-Lena, Ömer, ' +
    'Ümmü, Zoë, Olivia, Noah, Siân, Chloë, Muhammad, Aoife, José, Priya, 小明, Ngọc',
);
const SURNAMES = list(
  'Novák, Dvořák, Černý, Růžička, Šťastný, Křížová, Žďárská, Ďurišová, Müller, Weiß, Jäger, von der Heide, ' +
    "Yıldız, Meyer-Lüdenscheidt, D'Angelo, Smith, O'Brien, Patel, Brontë, Nguyễn, Null, Wójcik, True, García",
);
/** `postcode/city`; codes keep their leading zeros. */
const PLACES = list(
  '110 00/Praha 1, 602 00/Brno, 01067/Dresden, 06108/Halle (Saale), SW1A 1AA/London, 02108/Boston, 07030/Hoboken',
);
const STREETS = list(
  'Dlouhá, U Školy, náměstí Míru, Hauptstraße, An der Mühle, Schloßallee, High Street, St. John’s Lane',
);
const MAIL_HOSTS = list('example.com, example.cz, example.de, example.co.uk, mail.example');
/** Each # is a digit. */
const PHONES = list(
  '+420 601 ### ###, +420777######, 00420 723 ### ###, 602 ### ###, +49 151 ########, 0151/#######, ' +
    '030 - ### ## ##, +44 7700 900###, +1 202-555-01##, (0)20 7946 0###',
);
const SENTENCES = [
  'Rád bych se u vás ucházel o místo, protože mě vaše práce dlouhodobě zajímá.',
  'Pět let jsem vedla malý tým a naučila se, že nejtěžší je říkat „ne“.',
  'Nastoupit mohu od 1. 3. nebo po dohodě – výpovědní lhůta je dva měsíce.',
  'Příliš žluťoučký kůň úpěl ďábelské ódy; to je moje oblíbená věta.',
  'Leider kann ich erst ab 15:30 Uhr da sein, weil der Zug so spät kommt.',
  'Gibt es eine Möglichkeit, die Workshops »Töpfern« und »Löten« zu kombinieren?',
  'Letztes Jahr war’s großartig!',
  'The delivery was quick and the driver even helped me carry it upstairs 🙌',
  'The website logged me out twice; "session expired", it said.',
  'Two of the three items were right; the third was someone else’s.',
  'Keep up the good work! 👩🏽‍🔧',
];
const REMARKS = [
  'Volejte prosím až po 17. hodině.',
  'Viz příloha č. 2',
  '–',
  'Nussallergie, laktosefrei',
  '2 Kinder (3 und 7 Jahre)',
  'vegan 🌱',
  'n/a',
  '=great',
  '-',
  '@reception, 2nd floor',
  '+1 from me',
  '¯\\_(ツ)_/¯',
];
