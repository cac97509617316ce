import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RunCommand } from './host.ts';

/** A command with its help. Its code is loaded when it is called. */
export interface CommandSpec {
  readonly name: string;
  /** The command in one line of the help. */
  readonly summary: string;
  /** Lines to copy, shown under its help. */
  readonly examples: readonly string[];
  /** Each in commander's notation, and its meaning. */
  readonly args?: readonly (readonly [name: string, meaning: string])[];
  readonly options?: readonly Option[];
  readonly load: () => Promise<RunCommand>;
}

/** An option in commander's notation: `--limit <number>`. */
const option = (flags: string, meaning: string): Option => new Option(flags, meaning);

const wholeNumber = (flags: string, meaning: string): Option =>
  option(flags, meaning).argParser((text: string): number => {
    if (/^\d{1,9}$/.test(text)) return Number(text);
    throw new InvalidArgumentError('It takes a whole number.');
  });

// Options of several commands.
const ONE_TARGET = option('--target <name>', 'only this target');
const PLACE = [option('--form <form>', 'only this form: ID, slug or name'), ONE_TARGET];
const ERASING = [
  ...PLACE,
  option('--dry-run', 'count what would be removed, change nothing'),
  option('--yes', 'do not ask; required without a terminal'),
];
const AS_JSON = option('--json', 'print one JSON document');

/**
 * Every command with its options, in the order of the help. A command's module is loaded when it is called, so that `start` and
 * `worker` load nothing of the sandbox, and the help loads next to nothing.
 */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'start',
    summary: 'Keeps the copy up to date: scheduler, worker and status page in one process.',
    examples: ['forms-mirror start', 'SYNC_EVERY=30s forms-mirror start'],
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'worker',
    summary: 'Runs another worker beside a start on this or another machine. Needs QUEUE_URL.',
    examples: ['QUEUE_URL=redis://redis.example.com:6379 forms-mirror worker'],
    load: async () => (await import('./worker.ts')).worker,
  },
  {
    name: 'sync',
    summary: 'Brings the copy up to date once. Safe beside running workers.',
    examples: [
      'forms-mirror sync',
      'forms-mirror sync --full --form contact',
      'forms-mirror sync --full --dry-run',
    ],
    options: [
      option('--full', 'read everything and compare every answer'),
      ...PLACE,
      option('--dry-run', 'read and compare, change nothing, list what would change'),
      option(
        '--accept-deletes',
        'accept the held deletions, if no more are missing than were last shown',
      ),
      AS_JSON,
    ],
    load: async () => (await import('./sync.ts')).sync,
  },
  {
    name: 'verify',
    summary:
      'Reads source and copy and compares every row. Exits 1 if they differ. A status change or deletion that no poll has brought yet counts as different.',
    examples: ['forms-mirror verify', 'forms-mirror verify --form contact --json'],
    options: [...PLACE, AS_JSON],
    load: async () => (await import('./verify.ts')).verify,
  },
  {
    name: 'check',
    summary:
      'Tries settings, key, forms, fields, targets and queue, judges the copies, and says how to fix what fails.',
    examples: ['forms-mirror check', 'forms-mirror check --alert'],
    options: [
      option('--alert', 'also send a test message to every receiver of notifications'),
      AS_JSON,
    ],
    load: async () => (await import('./check.ts')).check,
  },
  {
    name: 'forms',
    summary: 'Lists the forms of the workspace, or the fields of one form, ready to paste.',
    examples: ['forms-mirror forms', 'forms-mirror forms contact'],
    args: [['[form]', 'ID, slug or name of the form whose fields to list']],
    options: [AS_JSON],
    load: async () => (await import('./forms.ts')).listForms,
  },
  {
    name: 'status',
    summary:
      'Shows each form in each target: last run, rows, age of each claim, problems. Exits 1 unless everything is up to date.',
    examples: ['forms-mirror status', 'forms-mirror status --json'],
    options: [AS_JSON],
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'pause',
    summary:
      'Stops writing to a form, a target or everything until you resume it, even after restarts.',
    examples: [
      'forms-mirror pause --form contact --reason "the tab is being rebuilt"',
      'forms-mirror pause --target warehouse',
      'forms-mirror pause',
    ],
    options: [...PLACE, option('--reason <text>', 'why, shown to others')],
    load: async () => (await import('./pausing.ts')).pause,
  },
  {
    name: 'resume',
    summary: 'Ends a pause. The next poll finds what changed.',
    examples: ['forms-mirror resume --form contact', 'forms-mirror resume'],
    options: PLACE,
    load: async () => (await import('./pausing.ts')).resume,
  },
  {
    name: 'explain',
    summary:
      'Shows one submission at the source and in each target, and why it is rejected, held or forgotten there.',
    examples: ['forms-mirror explain sub_0123456789', 'forms-mirror explain sub_0123456789 --json'],
    args: [['<submission-id>', 'ID of the submission']],
    options: [AS_JSON],
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'export',
    summary:
      'Writes the rows of one form as CSV that is safe to open in a spreadsheet, or as JSON lines.',
    examples: [
      'forms-mirror export contact --labels > contact.csv',
      'forms-mirror export contact --format jsonl | head',
    ],
    args: [['<form>', 'ID, slug or name of the form']],
    options: [
      option('--format <format>', 'csv, or jsonl: one JSON object a line')
        .choices(['csv', 'jsonl'])
        .default('csv'),
      option('--labels', 'use the current labels as column names'),
      option('--deleted', 'also rows that are marked deleted, after the others'),
      ONE_TARGET,
    ],
    load: async () => (await import('./export.ts')).exportRows,
  },
  {
    name: 'forget',
    summary:
      'Erases submissions from every target and keeps them away while the source still has them.',
    examples: [
      'forms-mirror forget sub_0123456789 --dry-run',
      'forms-mirror forget sub_0123456789',
      'forms-mirror forget --undo sub_0123456789',
    ],
    args: [['<submission-id...>', 'IDs of the submissions']],
    options: [option('--undo', 'let them come back with the next run'), ...ERASING],
    load: async () => (await import('./erasing.ts')).forget,
  },
  {
    name: 'purge',
    summary:
      'Removes rows that were marked deleted long ago, or answers of fields that are no longer selected.',
    examples: [
      'forms-mirror purge --deleted-before 30d --dry-run',
      'forms-mirror purge --deleted-before 30d',
      'forms-mirror purge --unselected --yes',
    ],
    options: [
      option(
        '--deleted-before <age>',
        'rows that were marked deleted at least this long ago, such as 30d',
      ),
      option(
        '--unselected',
        'empty the columns of fields that are no longer selected, or that no run hashes',
      ),
      ...ERASING,
    ],
    load: async () => (await import('./erasing.ts')).purge,
  },
  {
    name: 'sandbox',
    summary: 'Runs a sample Forms API with sample data.',
    examples: ['forms-mirror sandbox', 'forms-mirror sandbox --submissions 50000 --traffic 120'],
    options: [
      wholeNumber('--port <number>', 'port on 127.0.0.1; 0 for any free one').default(4_010),
      wholeNumber('--submissions <number>', 'sample submissions over all forms').default(1_250),
      wholeNumber('--traffic <per-minute>', 'change this many submissions per minute').default(0),
      option('--sheets', 'run a stand-in for Google Sheets too, on the next port (in a checkout)'),
    ],
    load: async () => (await import('./sandbox.ts')).runSandbox,
  },
  {
    name: 'demo',
    summary: 'Shows the mirror at work with a sample Forms API, the queue, and a SQLite file.',
    examples: [
      'forms-mirror demo',
      'forms-mirror demo --keep-running',
      'forms-mirror demo --sheets --keep-running',
    ],
    options: [
      wholeNumber('--seconds <number>', 'how long to watch submissions arrive').default(20),
      option('--keep-running', 'continue until Ctrl-C'),
      option(
        '--sheets',
        'mirror into a stand-in for Google Sheets too, shown as a page (in a checkout)',
      ),
    ],
    load: async () => (await import('./demo.ts')).demo,
  },
];

/** Adds a command to the program, which then parses it and shows its help. */
export function addCommand(program: Command, spec: CommandSpec): Command {
  const { name, summary, examples, args = [], options = [] } = spec;
  const command = program.command(name).description(summary);
  for (const [argument, meaning] of args) command.argument(argument, meaning);
  for (const each of options) command.addOption(each);
  return command.addHelpText(
    'after',
    `\nExamples:\n${examples.map((line) => `  ${line}\n`).join('')}`,
  );
}
