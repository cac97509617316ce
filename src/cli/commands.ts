import { Option } from 'commander';
import type { CommandSpec } from './command-spec.ts';

// Options of several commands.
const ONE_FORM = new Option('--form <form>', 'only this form: ID, slug or name');
const ONE_TARGET = new Option('--target <name>', 'only this target');
const ONLY_COUNT = new Option('--dry-run', 'count what would be removed, change nothing');
const CONFIRMED = new Option('--yes', 'do not ask; required where there is no terminal');
const AS_JSON = new Option('--json', 'print one JSON document');

/** How `--fault` is written. */
export const FAULT_SYNTAX =
  '[METHOD] [/path[?name=value]|~pattern] [STATUS] [after=N] [times=N|always] [delay=MS|2s] ' +
  '[retry-after=SECONDS] [cut=BYTES] [hang] [drop] [applied] [body=TEXT to the end]';

/** How `--reading` is written. */
export const READING_SYNTAX = 'POINT=VALUE, such as sort=ignored or wrapper=data';

/**
 * Every command with its options, in the order of the help. A command's module is loaded when it is called, so that
 * `start` and `worker` load nothing of the sandbox, and the help loads next to nothing.
 */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'start',
    summary: 'Keeps the copy up to date: scheduler, worker and status page in one process.',
    examples: ['forms-mirror start', 'SYNC_EVERY=30s forms-mirror start'],
    load: () => import('./start.ts'),
  },
  {
    name: 'worker',
    summary: 'Runs a worker alone, beside a start elsewhere; needs QUEUE_URL.',
    examples: ['QUEUE_URL=redis://redis.example.com:6379 forms-mirror worker'],
    load: () => import('./worker.ts'),
  },
  {
    name: 'sync',
    summary: 'Brings the copy up to date once, now; safe beside running workers.',
    examples: [
      'forms-mirror sync',
      'forms-mirror sync --full --form contact',
      'forms-mirror sync --full --dry-run',
      'forms-mirror sync --full --dry-run --values --limit 100',
    ],
    configure: (command) =>
      command
        .option('--full', 'read everything: finds changed statuses, edits and deletions')
        .addOption(ONE_FORM)
        .addOption(ONE_TARGET)
        .option(
          '--dry-run',
          'read and compare, write nothing, mark nothing; name what would change',
        )
        .option('--values', 'with --dry-run: what changed cells hold, and would hold')
        .option('--limit <number>', 'with --dry-run: rows of each kind to name; default: 20')
        .option('--accept-deletes', 'release the brake of MAX_DELETE_FRACTION for this pass')
        .option('--restore-columns', 'recreate columns of a sheet that people deleted')
        .addOption(AS_JSON),
    load: () => import('./sync.ts'),
  },
  {
    name: 'verify',
    summary: 'Compares source and copy row by row, trusting nothing; exit 1 when they differ.',
    examples: [
      'forms-mirror verify',
      'forms-mirror verify --form contact --json',
      'forms-mirror verify --wait 10m',
    ],
    configure: (command) =>
      command
        .addOption(ONE_FORM)
        .addOption(ONE_TARGET)
        .option(
          '--wait <time>',
          'how long to look again at what differs; default: as long as the schedule explains, 5 minutes at most; 0: not at all',
        )
        .addOption(AS_JSON),
    load: () => import('./verify.ts'),
  },
  {
    name: 'check',
    summary:
      'Tries settings, key, forms, fields and each target, and names the remedy for what fails.',
    examples: ['forms-mirror check', 'forms-mirror check --json'],
    configure: (command) => command.addOption(AS_JSON),
    load: () => import('./check.ts'),
  },
  {
    name: 'forms',
    summary: 'Lists the forms of the workspace, ready to paste into TARGET_FORMS.',
    examples: ['forms-mirror forms', 'forms-mirror forms --json'],
    configure: (command) => command.addOption(AS_JSON),
    load: () => import('./forms.ts'),
  },
  {
    name: 'fields',
    summary: 'Lists the fields of all forms, or of one, ready to paste into TARGET_FIELDS.',
    examples: ['forms-mirror fields', 'forms-mirror fields contact', 'forms-mirror fields --json'],
    configure: (command) =>
      command.argument('[form]', 'ID, slug or name of one form').addOption(AS_JSON),
    load: () => import('./fields.ts'),
  },
  {
    name: 'status',
    summary:
      'Shows for each form and target the last pass, rows, lag, rejected, and when the next is due.',
    examples: ['forms-mirror status', 'forms-mirror status --json'],
    configure: (command) => command.addOption(AS_JSON),
    load: () => import('./status.ts'),
  },
  {
    name: 'alert',
    summary: 'Sends a test message through each channel that alerts go to; exit 1 when one fails.',
    examples: ['forms-mirror alert --test', 'forms-mirror alert --test --json'],
    configure: (command) =>
      command
        .option('--test', 'say that it is a test; required, as nothing else is sent by hand')
        .addOption(AS_JSON),
    load: () => import('./alert.ts'),
  },
  {
    name: 'run',
    summary: 'Has the start that runs here look now, or compare row by row.',
    examples: [
      'forms-mirror run',
      'forms-mirror run --full --form contact',
      'forms-mirror run --accept-deletes --form contact --target warehouse',
    ],
    configure: (command) =>
      command
        .addOption(ONE_FORM)
        .addOption(ONE_TARGET)
        .option('--full', 'read everything and compare it row by row')
        .option('--accept-deletes', 'mark the withheld deletions of the form, and no further ones')
        .addOption(AS_JSON),
    load: () => import('./run.ts'),
  },
  {
    name: 'pause',
    summary:
      'Has a form, a target, or everything left alone until it is resumed, over restarts too.',
    examples: [
      'forms-mirror pause --form contact --reason "the tab is being rebuilt"',
      'forms-mirror pause --target warehouse',
      'forms-mirror pause',
    ],
    configure: (command) =>
      command
        .addOption(ONE_FORM)
        .addOption(ONE_TARGET)
        .option('--reason <text>', 'why, for those who wonder')
        .addOption(AS_JSON),
    load: () => import('./pause.ts'),
  },
  {
    name: 'resume',
    summary: 'Lets what was paused go on: what came meanwhile arrives with the next look.',
    examples: ['forms-mirror resume --form contact', 'forms-mirror resume'],
    configure: (command) => command.addOption(ONE_FORM).addOption(ONE_TARGET).addOption(AS_JSON),
    load: () => import('./resume.ts'),
  },
  {
    name: 'explain',
    summary: 'Shows where one submission stands: at the source, in each target, with marking.',
    examples: ['forms-mirror explain sub_0123456789', 'forms-mirror explain sub_0123456789 --json'],
    configure: (command) =>
      command.argument('<submission-id>', 'ID of the submission').addOption(AS_JSON),
    load: () => import('./explain.ts'),
  },
  {
    name: 'export',
    summary: 'Writes the rows of one form, as a target holds them, as CSV or JSON lines.',
    examples: [
      'forms-mirror export contact > contact.csv',
      'forms-mirror export contact --labels --bom --output contact.csv',
      'forms-mirror export contact --format jsonl | head',
    ],
    configure: (command) =>
      command
        .argument('<form>', 'ID, slug or name of the form')
        .option('--format <format>', 'csv or jsonl: one JSON object a line', 'csv')
        .option('--labels', 'name columns by the labels of the form, not as the target does')
        .option('--deleted', 'rows that are marked deleted, too, after the others')
        .option('--bom', 'begin CSV with a byte order mark: Excel then reads it as UTF-8')
        .option('--raw', 'leave texts that a spreadsheet would run as a formula as they are')
        .option('--output <file>', 'write into this file, once everything is there')
        .addOption(ONE_TARGET),
    load: () => import('./export.ts'),
  },
  {
    name: 'dbt',
    summary:
      'Prints a sources.yml for dbt with the tables of a SQL target, their tests and freshness.',
    examples: [
      'forms-mirror dbt > models/forms/sources.yml',
      'forms-mirror dbt --target warehouse --name survey_answers',
    ],
    configure: (command) =>
      command.option('--name <name>', 'name of the source in dbt', 'forms').addOption(ONE_TARGET),
    load: () => import('./dbt.ts'),
  },
  {
    name: 'forget',
    summary:
      'Removes submissions from every target and keeps them away while the source still has them.',
    examples: [
      'forms-mirror forget sub_0123456789 --dry-run',
      'forms-mirror forget sub_0123456789',
      'forms-mirror forget --undo sub_0123456789',
    ],
    configure: (command) =>
      command
        .argument('<submission-id...>', 'IDs of the submissions')
        .option('--undo', 'let them come back with the next pass')
        .addOption(ONE_FORM)
        .addOption(ONE_TARGET)
        .addOption(ONLY_COUNT)
        .addOption(CONFIRMED)
        .addOption(AS_JSON),
    load: () => import('./forget.ts'),
  },
  {
    name: 'purge',
    summary:
      'Removes rows that were marked deleted long ago, or answers that are no longer picked or that no pass hashes.',
    examples: [
      'forms-mirror purge --deleted-before 30d --dry-run',
      'forms-mirror purge --deleted-before 30d',
      'forms-mirror purge --unpicked --yes',
    ],
    configure: (command) =>
      command
        .option('--deleted-before <age>', 'rows that were marked deleted so long ago, such as 30d')
        .option(
          '--unpicked',
          'empty the columns of fields that TARGET_FIELDS no longer names, or that no pass hashes',
        )
        .addOption(ONE_FORM)
        .addOption(ONE_TARGET)
        .addOption(ONLY_COUNT)
        .addOption(CONFIRMED)
        .addOption(AS_JSON),
    load: () => import('./purge.ts'),
  },
  {
    name: 'sandbox',
    summary: 'Runs a stand-in Forms API with sample data, to try things out against.',
    examples: [
      'forms-mirror sandbox',
      'forms-mirror sandbox --submissions 50000 --traffic 120',
      "forms-mirror sandbox --fault 'GET /submissions 500 after=3 times=2' --reading sort=ignored",
    ],
    configure: (command) =>
      command
        .option('--port <number>', 'port on 127.0.0.1; 0 for any free one', '4010')
        .option('--submissions <number>', 'sample submissions over all forms', '1250')
        .option('--forms <number>', 'sample forms, 1 to 5', '3')
        .option('--seed <text>', 'determines all sample data', '1')
        .option('--traffic [per-minute]', 'people submit and change statuses: 60 times a minute')
        .option('--fault <rule>', `breaks requests on purpose: ${FAULT_SYNTAX}`, collect)
        .option(
          '--reading <point=value>',
          `reads what the specification leaves open another way: ${READING_SYNTAX}`,
          collect,
        )
        .option(
          '--sheets',
          'run a stand-in for Google Sheets too, on the next port (in a checkout)',
        )
        .option('--json', 'print address, key and forms as one JSON document'),
    load: () => import('./sandbox.ts'),
  },
  {
    name: 'demo',
    summary: 'Shows it at work: a stand-in Forms API with traffic, the queue, and a SQLite table.',
    examples: [
      'forms-mirror demo',
      'forms-mirror demo --keep-running',
      'forms-mirror demo --sheets --keep-running',
    ],
    configure: (command) =>
      command
        .option('--seconds <number>', 'how long to watch submissions arrive', '20')
        .option('--keep-running', 'go on until Ctrl-C')
        .option('--submissions <number>', 'sample submissions to begin with', '1250')
        .option(
          '--sheets',
          'mirror into a stand-in for Google Sheets too, shown as a page (in a checkout)',
        ),
    load: () => import('./demo.ts'),
  },
];

/** Makes commander collect an option that may be given several times. */
function collect(value: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? before.map(String) : []), value];
}
