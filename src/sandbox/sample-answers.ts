import anyAscii from 'any-ascii';
import type { Answers, Json } from '../mirror/types.ts';
import type { Random } from './random.ts';
import type { SandboxField } from './store.ts';

/** Language of respondents. */
export type Language = 'cs' | 'de' | 'en';

/** One person who fills in a form, with the same name in each answer. */
interface Respondent {
  readonly words: Vocabulary;
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
  language: Language,
  random: Random,
): Answers {
  const words = VOCABULARY[language];
  const respondent: Respondent = {
    words,
    random,
    firstName: random.pick(words.firstNames),
    surname: random.pick(words.surnames),
    place: random.pick(words.cities).split('/'),
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
  text: ({ words, random }) => random.pick(words.remarks),
  firstName: ({ firstName }) => firstName,
  surname: ({ surname }) => surname,
  fullName: ({ firstName, surname }) => `${firstName} ${surname}`,
  email: ({ words, random, firstName, surname }) => {
    const plain = [firstName, surname].map((name) => anyAscii(name).replaceAll(/[^A-Za-z]/g, ''));
    const name = plain.join('.').toLowerCase();
    return `${name}${random.int(1, 99)}@${random.pick(words.mailHosts)}`;
  },
  phone: ({ words, random }) =>
    random.pick(words.phones).replaceAll('#', () => String(random.int(0, 9))),
  street: ({ words, random }) => `${random.pick(words.streets)} ${random.int(1, 199)}`,
  postcode: ({ place }) => place[0] ?? '',
  city: ({ place }) => place[1] ?? '',
  date: ({ random }) =>
    `${random.int(1950, 2006)}-${padded(random.int(1, 12))}-${padded(random.int(1, 28))}`,
  url: ({ random }) => `https://cv.example/p/${random.word(8)}?lang=cs&v=${random.int(1, 3)}`,
  code: ({ random }) => String(random.int(1, 99_999)).padStart(8, '0'),
  consent: ({ words }) => words.consent,
  rating: ({ random }) => Math.max(random.int(1, 5), random.int(1, 5)),
  count: ({ random }) => random.int(1, 6),
  salary: ({ random }) => random.int(28, 120) * 1000,
  price: ({ random }) => random.int(199, 49_900) / 100,
  remark: ({ words, random }) => (random.chance(0.5) ? random.pick(words.remarks) : ''),
  /** A few sentences, sometimes in paragraphs, rarely a whole page. */
  story: ({ words: { sentences }, random }) => {
    const length = random.chance(0.02) ? random.int(30, 60) : random.int(1, 4);
    const first = random.int(0, sentences.length - 1);
    let text = sentences[first] ?? '';
    for (let count = 1; count < length; count++) {
      const gap = random.chance(0.3) ? '\n\n' : ' ';
      text += gap + (sentences[(first + count) % sentences.length] ?? '');
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

/** Names, towns and texts of sample respondents of one language. */
interface Vocabulary {
  readonly firstNames: readonly string[];
  readonly surnames: readonly string[];
  /** `postcode/city`; codes keep their leading zeros. */
  readonly cities: readonly string[];
  readonly streets: readonly string[];
  readonly mailHosts: readonly string[];
  /** Phone numbers; each # is a digit. */
  readonly phones: readonly string[];
  readonly sentences: readonly string[];
  readonly remarks: readonly string[];
  readonly consent: string;
}

const list = (text: string): string[] => text.split(', ');

/** Vocabulary by language. Hosts and numbers are reserved for examples, or not assigned. */
const VOCABULARY: Readonly<Record<Language, Vocabulary>> = {
  cs: {
    firstNames: list(
      'Jiří, Jan, Petr, Tomáš, Ondřej, Lukáš, Matěj, Zdeněk, Jana, Marie, Eva, Kateřina, ' +
        'Lucie, Věra, Alžběta, Šárka, Žaneta, Růžena',
    ),
    surnames: list(
      'Novák, Svoboda, Dvořák, Černý, Procházka, Kučera, Veselý, Horák, Němec, Růžička, ' +
        'Šťastný, Křížová, Řezníčková, Žďárská, Ďurišová, Hůlková',
    ),
    streets: list('Dlouhá, Nádražní, U Školy, Pod Lipami, Křižíkova, náměstí Míru'),
    mailHosts: list('example.cz, posta.example, example.com'),
    phones: list(
      '+420 601 ### ###, +420777######, 00420 723 ### ###, 602 ### ###, +421 905 ### ###',
    ),
    cities: list('110 00/Praha 1, 602 00/Brno, 301 00/Plzeň, 702 00/Ostrava'),
    sentences: [
      'Rád bych se u vás ucházel o místo, protože mě vaše práce dlouhodobě zajímá.',
      'Pět let jsem vedla malý tým a naučila se, že nejtěžší je říkat „ne“.',
      'Umím plynně anglicky, domluvím se německy; francouzsky jen čtu.',
      'Řidičský průkaz skupiny B mám, auto nikoliv.',
      'Nastoupit mohu od 1. 3. nebo po dohodě – výpovědní lhůta je dva měsíce.',
      'Příliš žluťoučký kůň úpěl ďábelské ódy; to je moje oblíbená věta.',
      'Ve volném čase běhám, čtu a opravuji stará kola.',
      'Děkuji za přečtení a těším se na setkání.',
    ],
    remarks: [
      'Volejte prosím až po 17. hodině.',
      'Bez poznámek',
      '–',
      'Mám dotaz k parkování, děkuji!',
      'Viz příloha č. 2',
    ],
    consent: 'Souhlasím',
  },
  de: {
    firstNames: list(
      'Jürgen, Björn, Günther, Lukas, Felix, Jörg, Maximilian, Käthe, Anna-Lena, Sophie, ' +
        'Gesa, Ümmü, Renée, Ida, Ömer, Zoë',
    ),
    surnames: list(
      'Müller, Schmidt, Schröder, Weiß, Groß, Jäger, Köhler, Böhm, von der Heide, Yıldız, ' +
        "Strauß, Meyer-Lüdenscheidt, D'Angelo, Fuß",
    ),
    streets: list('Hauptstraße, Bahnhofstr., An der Mühle, Schloßallee, Gänsemarkt, Zum Süden'),
    mailHosts: list('example.de, beispiel.example, example.org'),
    phones: list(
      '+49 151 ########, 0151/#######, 0049 30 ######, 030 - ### ## ##, +43 660 #######',
    ),
    cities: list('01067/Dresden, 04109/Leipzig, 06108/Halle (Saale), 10115/Berlin'),
    sentences: [
      'Wir freuen uns schon sehr auf das Fest und bringen gerne einen Kuchen mit.',
      'Leider kann ich erst ab 15:30 Uhr da sein, weil der Zug so spät kommt.',
      'Bitte einen Platz in der Nähe des Eingangs – meine Mutter ist nicht gut zu Fuß.',
      'Gibt es eine Möglichkeit, die Workshops »Töpfern« und »Löten« zu kombinieren?',
      'Letztes Jahr war’s großartig!',
      'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.',
      'Die Rechnung bitte an die Firma, Kostenstelle siehe unten.',
    ],
    remarks: [
      'keine',
      'Nussallergie, laktosefrei',
      '2 Kinder (3 und 7 Jahre)',
      'Überweisung folgt',
      'vegan 🌱',
    ],
    consent: 'Ja, ich stimme zu',
  },
  en: {
    firstNames: list(
      'Olivia, Amelia, Noah, George, Siân, Chloë, Muhammad, Aoife, Grace, José, Priya, 小明, ' +
        'Renée, Jack, Ngọc, Zoe',
    ),
    surnames: list(
      "Smith, O'Brien, Taylor, Patel, Brontë, Nguyễn, Null, Fitzgerald-Jones, Wójcik, Khan, " +
        'True, García, Müller, Lee',
    ),
    streets: list('High Street, Station Road, St. John’s Lane, Main St, Elm Avenue, The Green'),
    mailHosts: list('example.com, example.co.uk, mail.example'),
    phones: list(
      '+44 7700 900###, +1 202-555-01##, (0)20 7946 0###, 07700 900###, 001 202 555 01##',
    ),
    cities: list('SW1A 1AA/London, 02108/Boston, 07030/Hoboken, EH1 1YZ/Edinburgh'),
    sentences: [
      'The delivery was quick and the driver even helped me carry it upstairs 🙌',
      'Honestly? I expected more for the price.',
      'Support answered within an hour, which I did not expect on a Sunday.',
      'The box was damaged, but what was inside was fine.',
      'I would buy again, and I told my sister to do so as well ❤️',
      'The website logged me out twice; "session expired", it said.',
      'Two of the three items were right; the third was someone else’s.',
      'Keep up the good work! 👩🏽‍🔧',
    ],
    remarks: [
      'n/a',
      'Please call before delivery',
      '=great',
      '-',
      '@reception, 2nd floor',
      '+1 from me',
      '¯\\_(ツ)_/¯',
    ],
    consent: 'I agree',
  },
};
