import type { FormDraft } from './store.ts';

/** The kind of answer that a field takes. */
export type AnswerKind =
  | 'text'
  | 'first-name'
  | 'surname'
  | 'full-name'
  | 'email'
  | 'phone'
  | 'street'
  | 'postcode'
  | 'city'
  | 'date'
  | 'url'
  | 'code'
  | 'choice'
  | 'choices'
  | 'consent'
  | 'rating'
  | 'count'
  | 'salary'
  | 'price'
  | 'story'
  | 'remark';

/** Language of respondents. */
export type Language = 'cs' | 'de' | 'en';

/** A field of a sample form. */
interface SampleField {
  readonly label: string;
  readonly kind: AnswerKind;
  readonly required?: boolean;
  readonly options?: readonly string[];
}

/** A form that looks like real life. */
export interface SampleForm {
  readonly draft: Pick<FormDraft, 'name' | 'slug' | 'language'> & {
    readonly sections: readonly { readonly fields: readonly SampleField[] }[];
  };
  /** Its share of the submissions, relative to the other forms. */
  readonly share: number;
  /** A field that its owner deleted: only the older answers still carry it. */
  readonly deleted: SampleField;
  /** Its respondents pay, so that some submissions are PAID. */
  readonly isPaid: boolean;
}

/** The sample forms. */
export const SAMPLE_FORMS: readonly SampleForm[] = [
  {
    share: 5,
    isPaid: false,
    deleted: { label: 'Rodné příjmení', kind: 'surname' },
    draft: {
      name: 'Přihláška na pracovní pozici',
      slug: 'prihlaska-na-pozici',
      language: 'cs',
      sections: [
        {
          fields: [
            { label: 'Jméno a příjmení', kind: 'full-name', required: true },
            { label: 'E-mail', kind: 'email', required: true },
            { label: 'Telefon', kind: 'phone' },
            { label: 'Datum narození', kind: 'date' },
            { label: 'PSČ', kind: 'postcode' },
            { label: 'Obec', kind: 'city' },
          ],
        },
        {
          fields: [
            {
              label: 'O jakou pozici se ucházíte?',
              kind: 'choice',
              required: true,
              options: ['Účetní', 'Řidič/ka', 'Vývojář/ka', 'Skladník/-ice', 'Jiná…'],
            },
            { label: 'Očekávaná hrubá mzda (Kč)', kind: 'salary' },
            { label: 'Motivační dopis', kind: 'story' },
            { label: 'Odkaz na životopis', kind: 'url' },
            { label: 'Poznámka', kind: 'remark' },
            { label: 'Poznámka', kind: 'remark' },
            { label: 'Souhlas se zpracováním osobních údajů', kind: 'consent', required: true },
          ],
        },
      ],
    },
  },
  {
    share: 3,
    isPaid: true,
    deleted: { label: 'Faxnummer', kind: 'phone' },
    draft: {
      name: 'Anmeldung Sommerfest & Workshops',
      slug: 'anmeldung-sommerfest',
      language: 'de',
      sections: [
        {
          fields: [
            { label: 'Vorname', kind: 'first-name', required: true },
            { label: 'Nachname', kind: 'surname', required: true },
            { label: 'E-Mail-Adresse', kind: 'email', required: true },
            { label: 'Telefon', kind: 'phone' },
            { label: 'Straße und Hausnummer', kind: 'street' },
            { label: 'PLZ', kind: 'postcode' },
            { label: 'Ort', kind: 'city' },
          ],
        },
        {
          fields: [
            {
              label: 'Workshops',
              kind: 'choices',
              options: ['Töpfern', 'Löten für Anfänger', 'Chor', 'Fußball', 'Käse & Wein'],
            },
            { label: 'Anzahl Personen', kind: 'count', required: true },
            { label: 'Betrag (€)', kind: 'price' },
            { label: 'Allergien / Unverträglichkeiten', kind: 'remark' },
            { label: 'Was möchten Sie uns sagen?', kind: 'story' },
          ],
        },
      ],
    },
  },
  {
    share: 2,
    isPaid: false,
    deleted: { label: 'Which browser do you use?', kind: 'text' },
    draft: {
      name: 'Customer feedback 💬',
      slug: 'customer-feedback',
      language: 'en',
      sections: [
        {
          fields: [
            { label: 'Your name', kind: 'full-name' },
            { label: 'Email', kind: 'email', required: true },
            { label: 'Order number', kind: 'code' },
            { label: 'How satisfied are you? ⭐', kind: 'rating', required: true },
            { label: 'What did you like?', kind: 'story' },
            { label: 'What should we do better?', kind: 'story' },
            { label: 'Status', kind: 'choice', options: ['New customer', 'Regular', 'VIP'] },
            { label: 'Comments', kind: 'remark' },
            { label: 'comments', kind: 'remark' },
            { label: 'Mobile', kind: 'phone' },
          ],
        },
      ],
    },
  },
];

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
export const VOCABULARY: Readonly<Record<Language, Vocabulary>> = {
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
