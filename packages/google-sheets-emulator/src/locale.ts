/** How a locale writes numbers and dates. */
export interface Locale {
  readonly decimal: string;
  readonly group: string;
  /** The order in which a typed date is read: `1-2` is 2 January in `mdy`, 1 February in `dmy`. */
  readonly dateOrder: 'mdy' | 'dmy' | 'ymd';
  readonly date: string;
  readonly time: string;
  /** The time behind a date: Google's own example is `9/26/08 15:59:00`, in 24 hours. */
  readonly timeOfDate: string;
  /** BCP 47 tag for the names of months and days. */
  readonly tag: string;
}

const ENGLISH: Locale = {
  decimal: '.',
  group: ',',
  dateOrder: 'mdy',
  date: 'm/d/yyyy',
  time: 'h:mm:ss am/pm',
  timeOfDate: 'h:mm:ss',
  tag: 'en-US',
};

const european = (date: string, group: string, tag: string): Locale => ({
  decimal: ',',
  group,
  dateOrder: 'dmy',
  date,
  time: 'h:mm:ss',
  timeOfDate: 'h:mm:ss',
  tag,
});

const LOCALES: Readonly<Record<string, Locale>> = {
  en_US: ENGLISH,
  en_GB: {
    ...ENGLISH,
    dateOrder: 'dmy',
    date: 'dd/mm/yyyy',
    time: 'hh:mm:ss',
    timeOfDate: 'hh:mm:ss',
    tag: 'en-GB',
  },
  cs_CZ: european('d.m.yyyy', '\u00a0', 'cs-CZ'),
  sk_SK: european('d.m.yyyy', '\u00a0', 'sk-SK'),
  de_DE: european('dd.mm.yyyy', '.', 'de-DE'),
  fr_FR: european('dd/mm/yyyy', '\u202f', 'fr-FR'),
  pl_PL: european('d.mm.yyyy', '\u00a0', 'pl-PL'),
  es_ES: european('d/m/yyyy', '.', 'es-ES'),
};

/** The locale called `name` (`cs_CZ`, or `cs`); American English for an unknown one. */
export function localeOf(name: string): Locale {
  const known =
    LOCALES[name] ?? Object.entries(LOCALES).find(([key]) => key.startsWith(`${name}_`))?.[1];
  return known ?? ENGLISH;
}
