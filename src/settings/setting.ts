/** The headings that the settings are shown under, in this order. */
export const SETTING_GROUPS = [
  'Source',
  'Targets',
  'Schedule',
  'Marking',
  'Safety',
  'Google Sheets',
  'Network',
  'Queue',
  'Status page and alerts',
] as const;
type SettingGroup = (typeof SETTING_GROUPS)[number];

/** One setting: its documentation, and how it is read from the environment. */
export interface Setting {
  readonly group: SettingGroup;
  /** The value when unset, as text; null when there is none. */
  readonly default: string | null;
  /** Shown in place of the default when there is none. */
  readonly whenUnset?: string;
  /** Markdown, one sentence or two. */
  readonly meaning: string;
  /** A value to copy and adapt; never a working secret. */
  readonly example: string;
  /** Never echoed, and may come from a file named by `<NAME>_FILE` (L15). */
  readonly secret: boolean;
  /** A named target has its own: `TARGET_<NAME>_…`. */
  readonly perTarget: boolean;
  /** A name so common that a similar one in the machine's environment is not a typing error. */
  readonly commonName: boolean;
  /** The commands that use it. */
  readonly usedBy: readonly string[];
}

/** The commands that read the source. */
export const READERS = ['start', 'worker', 'sync', 'verify', 'check', 'forms', 'explain', 'forget'];
/** Those that open targets. */
export const WRITERS = [
  'start',
  'worker',
  'sync',
  'verify',
  'check',
  'status',
  'explain',
  'forget',
  'purge',
];
/** All of them. */
export const ALL = [
  'start',
  'worker',
  'sync',
  'verify',
  'check',
  'forms',
  'status',
  'explain',
  'forget',
  'purge',
];

/** What most settings are. */
export const plain = { default: null, secret: false, perTarget: false, commonName: false } as const;
