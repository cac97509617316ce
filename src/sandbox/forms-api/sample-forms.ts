import type { FieldDraft, FormDraft } from './workspace-forms.ts';

/** A form that looks like real life. */
export interface SampleForm {
  readonly draft: FormDraft & {
    readonly sections: readonly { readonly fields: readonly FieldDraft[] }[];
  };
  /** Its share of the submissions, relative to the other forms. */
  readonly share: number;
  /** A field that its owner deleted: only the older answers still carry it. */
  readonly deleted: FieldDraft;
  /** True when its respondents pay, so that some submissions are PAID. */
  readonly paid: boolean;
}

/** The sample forms, the three that are usual first. */
export const SAMPLE_FORMS: readonly SampleForm[] = [
  {
    share: 5,
    paid: false,
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
    paid: true,
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
    paid: false,
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
  {
    share: 2,
    paid: true,
    deleted: { label: 'Coupon', kind: 'code' },
    draft: {
      name: 'Order form',
      slug: 'order-form',
      language: 'en',
      sections: [
        {
          fields: [
            { label: 'Customer no.', kind: 'code', required: true },
            { label: 'Name', kind: 'full-name', required: true },
            { label: 'Delivery address', kind: 'address', required: true },
            { label: 'Billing address (if different)', kind: 'address' },
          ],
        },
        {
          fields: [
            {
              label: 'Product',
              kind: 'choice',
              required: true,
              options: ['Kettle “Thermo”', 'Mug 0.3 l', 'Teapot, 1-2 cups', 'Gift box 🎁'],
            },
            { label: 'Quantity', kind: 'count', required: true },
            { label: 'Unit price (£)', kind: 'price' },
            { label: 'Payment reference', kind: 'long-digits' },
            { label: 'Notes', kind: 'remark' },
            { label: 'Terms & conditions', kind: 'consent', required: true },
          ],
        },
      ],
    },
  },
  {
    share: 1,
    paid: true,
    deleted: { label: 'Číslo občanského průkazu', kind: 'code' },
    draft: {
      name: 'Rezervace chaty Šumava 🏔️',
      slug: 'rezervace-chaty-sumava',
      language: 'cs',
      sections: [
        {
          fields: [
            { label: 'Příjmení', kind: 'surname', required: true },
            { label: 'E-mail', kind: 'email', required: true },
            { label: 'Počet osob', kind: 'count', required: true },
            { label: 'Záloha (Kč)', kind: 'price' },
            { label: 'Variabilní symbol', kind: 'code' },
            {
              label: 'Přání a dotazy',
              kind: 'story',
              options: [
                'Je u chaty možné zaparkovat dvě auta?',
                'Přijedeme až v pátek večer kolem 22:00, prosíme o klíče do schránky.',
                'Máme s sebou psa (hodného 🐕).',
                'Šel by zapůjčit dětský vozík na běžky?',
                'Loni to bylo úžasné, těšíme se znovu!',
              ],
            },
          ],
        },
        { fields: [] },
      ],
    },
  },
];
