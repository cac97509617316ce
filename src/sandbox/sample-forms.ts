import { ANSWERS, oneOf, someOf } from './sample-answers.ts';
import type { FieldDraft, SandboxField, SandboxForm } from './store.ts';

/** A field of a sample form. */
type SampleField = FieldDraft & Pick<SandboxField, 'answer'>;

/** A realistic form. */
export interface SampleForm extends Pick<SandboxForm, 'name' | 'slug'> {
  readonly sections: readonly (readonly SampleField[])[];
  /** A field that its owner deleted: only older answers still have it. */
  readonly deleted: SampleField;
  /** Its share of the submissions, relative to the other forms. */
  readonly share: number;
  /** Its respondents pay, so that some submissions are PAID. */
  readonly isPaid: boolean;
}

/** The sample forms. */
export const SAMPLE_FORMS: readonly SampleForm[] = [
  {
    share: 5,
    isPaid: false,
    deleted: { label: 'Rodné příjmení', answer: ANSWERS.surname },
    name: 'Přihláška na pracovní pozici',
    slug: 'prihlaska-na-pozici',
    sections: [
      [
        { label: 'Jméno a příjmení', answer: ANSWERS.fullName, required: true },
        { label: 'E-mail', answer: ANSWERS.email, required: true },
        { label: 'Telefon', answer: ANSWERS.phone },
        { label: 'Datum narození', answer: ANSWERS.date },
        { label: 'PSČ', answer: ANSWERS.postcode },
        { label: 'Obec', answer: ANSWERS.city },
      ],
      [
        {
          label: 'O jakou pozici se ucházíte?',
          answer: oneOf('Účetní', 'Řidič/ka', 'Vývojář/ka', 'Skladník/-ice', 'Jiná…'),
          required: true,
        },
        { label: 'Očekávaná hrubá mzda (Kč)', answer: ANSWERS.salary },
        { label: 'Motivační dopis', answer: ANSWERS.story },
        { label: 'Odkaz na životopis', answer: ANSWERS.url },
        { label: 'Poznámka', answer: ANSWERS.remark },
        { label: 'Poznámka', answer: ANSWERS.remark },
        {
          label: 'Souhlas se zpracováním osobních údajů',
          answer: oneOf('Souhlasím'),
          required: true,
        },
      ],
    ],
  },
  {
    share: 3,
    isPaid: true,
    deleted: { label: 'Faxnummer', answer: ANSWERS.phone },
    name: 'Anmeldung Sommerfest & Workshops',
    slug: 'anmeldung-sommerfest',
    sections: [
      [
        { label: 'Vorname', answer: ANSWERS.firstName, required: true },
        { label: 'Nachname', answer: ANSWERS.surname, required: true },
        { label: 'E-Mail-Adresse', answer: ANSWERS.email, required: true },
        { label: 'Telefon', answer: ANSWERS.phone },
        { label: 'Straße und Hausnummer', answer: ANSWERS.street },
        { label: 'PLZ', answer: ANSWERS.postcode },
        { label: 'Ort', answer: ANSWERS.city },
      ],
      [
        {
          label: 'Workshops',
          answer: someOf('Töpfern', 'Löten für Anfänger', 'Chor', 'Fußball', 'Käse & Wein'),
        },
        { label: 'Anzahl Personen', answer: ANSWERS.count, required: true },
        { label: 'Betrag (€)', answer: ANSWERS.price },
        { label: 'Allergien / Unverträglichkeiten', answer: ANSWERS.remark },
        { label: 'Was möchten Sie uns sagen?', answer: ANSWERS.story },
      ],
    ],
  },
  {
    share: 2,
    isPaid: false,
    deleted: { label: 'Which browser do you use?', answer: ANSWERS.text },
    name: 'Customer feedback 💬',
    slug: 'customer-feedback',
    sections: [
      [
        { label: 'Your name', answer: ANSWERS.fullName },
        { label: 'Email', answer: ANSWERS.email, required: true },
        { label: 'Order number', answer: ANSWERS.code },
        { label: 'How satisfied are you? ⭐', answer: ANSWERS.rating, required: true },
        { label: 'What did you like?', answer: ANSWERS.story },
        { label: 'What should we do better?', answer: ANSWERS.story },
        { label: 'Status', answer: oneOf('New customer', 'Regular', 'VIP') },
        { label: 'Comments', answer: ANSWERS.remark },
        { label: 'comments', answer: ANSWERS.remark },
        { label: 'Mobile', answer: ANSWERS.phone },
      ],
    ],
  },
];
