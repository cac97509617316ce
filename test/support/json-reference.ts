/** A field of a JSON document, by its path (`[]` for each entry of a list), and its meaning. */
export type JsonFields = Readonly<Record<string, string>>;

/** A claim, below `path`. */
const claimFields = (path: string): JsonFields => ({
  [`${path}.submissionsAsOf`]:
    'The copy has every submission of the source as of this time; null: nothing is claimed. No part of the claim covers held, undecided and rejected ones.',
  [`${path}.statusesAsOf`]: 'Statuses are as of this time.',
  [`${path}.answersAsOf`]: 'Answers are as of this time.',
  [`${path}.held`]: 'Held deletions: rows that the source does not show.',
  [`${path}.undecided`]: 'Missing rows that the source did not answer for.',
  [`${path}.rejected`]: 'Submissions that could not be stored, or not as the source has them.',
});

const OUTCOMES =
  '`ok`, `held` (deletions are held), `incomplete`, `gone`, `paused`, `busy`, `failed`, `stopped`.';

/** The output of `sync --json`. */
export const SYNC_FIELDS: JsonFields = {
  'runs[]': 'One entry per form and target.',
  'runs[].form': 'ID of the form.',
  'runs[].slug': 'Slug of the form.',
  'runs[].target': 'Name of the target.',
  'runs[].outcome': OUTCOMES,
  'runs[].code': 'Problem code of a run that did not succeed; null otherwise.',
  'runs[].full': 'Whether the run read everything.',
  'runs[].inserted': 'New rows.',
  'runs[].updated': 'Changed rows.',
  'runs[].unchanged': 'Rows read and found equal.',
  'runs[].deleted': 'Rows newly marked deleted.',
  'runs[].held': 'Held deletions.',
  'runs[].rejected':
    'Submissions that the target refused in this run. `forms[].rejected` of `status` also counts those that were stored with changes.',
  ...claimFields('runs[].claim'),
  'runs[].requests': 'Requests to the Forms API, including retries.',
  'runs[].ms': 'Duration in milliseconds.',
  'runs[].error': 'The message for `code`; null if there is none.',
  'runs[].reasons': 'Why everything was read again.',
  'runs[].notices': 'Notices about the target, as in `status --json`.',
  writeBacks: 'Status changes at the source, per form; empty if write-back is off.',
  poll: 'Requests and milliseconds of the polls; null if each form was visited without one.',
  'error.code': 'Problem code. `error` replaces the document if the command fails as a whole.',
  'error.message': 'The message for that code.',
};

/** The output of `status --json`. `/api/status` of the status page answers with the same. */
export const STATUS_FIELDS: JsonFields = {
  at: 'When the report was made. All times are ISO 8601 in UTC.',
  version: 'Version of the program.',
  state: '`ok`, `working`, `waiting`, `paused`, `attention`, `failed` or `ended`.',
  title: 'The state in one line.',
  summary: 'How much there is, in one line.',
  'problems[]': 'Failures that concern all forms: source, queue, settings, DATA_DIR.',
  'problems[].level': '`error` (the copy falls behind, or may be wrong) or `warning`.',
  'problems[].code': 'Problem code; see [problems.md](problems.md).',
  'problems[].title': 'The problem in a few words.',
  'problems[].message': 'What happened.',
  'problems[].remedy': 'What to do; null if nothing.',
  'problems[].command': 'A command that does it; null if none.',
  'problems[].since': 'Since when, if known.',
  'source.heardAt': 'When the Forms API last answered as it should; null if never.',
  'targets[].name': 'Name of the target.',
  'targets[].state': 'As `state` above.',
  'targets[].kind': '`sqlite`, `postgres`, `mysql`, `google-sheets` or `bigquery`.',
  'targets[].address': 'Address without password.',
  'targets[].isReadable': 'Whether it could be read just now.',
  'targets[].readAt': 'When it was last read.',
  'targets[].pause': 'The pause of the whole target; null if none.',
  'targets[].problem': 'A problem of the target, with the fields of `problems[]`; null if none.',
  'forms[]': 'One entry per form and target.',
  'forms[].form.id': 'ID of the form.',
  'forms[].form.slug': 'Slug of the form.',
  'forms[].form.name': 'Name of the form.',
  'forms[].target': 'Name of the target.',
  'forms[].state': 'As `state` above.',
  'forms[].title': 'The state in a few words.',
  'forms[].pause': 'The pause of the form or its target; null if none.',
  'forms[].problems': 'Problems of this form here, with the fields of `problems[]`.',
  'forms[].notices': 'Changes that people made in the target and that need attention.',
  ...claimFields('forms[].claim'),
  'forms[].location': 'Table and view, or tab.',
  'forms[].url': 'Link to the tab; null for databases.',
  'forms[].table': 'Name of the table; null for spreadsheets.',
  'forms[].rows': 'Rows that are not marked deleted; null if the target could not be read.',
  'forms[].deletedRows': 'Rows marked deleted.',
  'forms[].rejected':
    'Submissions that could not be stored, or not as the source has them (a replaced character, no valid date, a protected cell). `rows` contains those that have a row.',
  'forms[].forgotten': 'Submissions erased with `forget`.',
  'forms[].refused': 'Status changes that the source refused within the last day.',
  'forms[].running': 'The run in progress; null if none.',
  'forms[].lastRun': 'The last run; null before the first.',
  'forms[].lastRun.outcome': OUTCOMES,
  'forms[].lastRun.startedAt': 'Start.',
  'forms[].lastRun.endedAt': 'End.',
  'forms[].lastRun.code': 'Problem code; null if it succeeded.',
  'forms[].lastRun.error': 'The message for that code.',
  'forms[].goneAt': 'When the form was found deleted at the source; null while it exists.',
  queue: 'The queue; null for a command, which does not look at it.',
  'queue.backend': '`embedded`, `redis` or `postgres`.',
  'queue.address': 'Address without password.',
  'queue.isReachable': 'Whether it answers just now.',
  'queue.nextPollAt': 'When the next poll begins; null if not known.',
  'queue.waiting': 'Jobs that wait for a worker.',
  'queue.active': 'Jobs that run.',
  'queue.problem': 'Why it does not work, with `code` and `message`; null if it works.',
  'queue.running[]': 'One entry per running job, on any machine.',
  'queue.running[].step': '`sync` or `write-back`.',
  'queue.running[].formId': 'ID of the form.',
  'queue.running[].target': 'Name of the target; null for a write-back.',
  'queue.running[].startedAt': 'Start.',
  'queue.running[].seen': 'Submissions seen so far.',
  'queue.running[].total': 'Number of submissions; 0 until it is known.',
};

/** Every path of a JSON document, lists as `[]`; below a documented object or list no deeper than it is documented. */
export function pathsOf(document: unknown, fields: JsonFields, path = ''): string[] {
  const isDocumented = path in fields;
  const isOpened = Object.keys(fields).some(
    (known) => known.startsWith(`${path}.`) || known.startsWith(`${path}[]`),
  );
  if (isDocumented && !isOpened) return [path];
  if (Array.isArray(document)) {
    return document.flatMap((entry) => pathsOf(entry, fields, `${path}[]`));
  }
  if (typeof document === 'object' && document !== null) {
    const below = Object.entries(document).flatMap(([name, value]) =>
      pathsOf(value, fields, path === '' ? name : `${path}.${name}`),
    );
    return isDocumented ? [path, ...below] : below;
  }
  return [path];
}
