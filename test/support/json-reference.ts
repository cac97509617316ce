/** A field of a JSON document, by its path (`[]` for each entry of a list), and what it means. */
export type JsonFields = Readonly<Record<string, string>>;

/** What `sync --json` prints. */
export const SYNC_FIELDS: JsonFields = {
  'passes[]': 'One entry per form and target.',
  'passes[].form': 'ID of the form.',
  'passes[].slug': 'Slug of the form.',
  'passes[].target': 'Name of the target.',
  'passes[].kind': '`incremental`, `full` or `compare`.',
  'passes[].outcome':
    '`ok`, `incomplete`, `withheld` (deletions are held), `gone`, `paused`, `failed`, `cancelled`.',
  'passes[].total': 'Submissions that the source counts; null if unknown.',
  'passes[].distinct': 'Distinct submissions that this run read.',
  'passes[].inserted': 'New rows.',
  'passes[].updated': 'Changed rows.',
  'passes[].unchanged': 'Rows read and found equal.',
  'passes[].deleted': 'Rows newly marked deleted.',
  'passes[].withheld': 'Held deletions.',
  'passes[].absent': 'Rows that the source no longer counts and that are not settled yet.',
  'passes[].undecided': 'Missing rows that the source did not answer for.',
  'passes[].rejected': 'Submissions that could not be stored.',
  'passes[].doubles': 'Entries that the source shows twice.',
  'passes[].marked': 'Statuses changed at the source after this run.',
  'passes[].refused': 'Status changes that the source refused.',
  'passes[].requests': 'Requests to the Forms API, including retries.',
  'passes[].ms': 'Duration in milliseconds.',
  'passes[].reason': 'Why the run is `incomplete`; null otherwise.',
  'passes[].code': 'Problem code of a run that did not succeed; null otherwise.',
  'passes[].error': 'The message for that code; null otherwise.',
  'passes[].notices': 'Notices about the target, as in `status --json`.',
  marks: 'Status changes at the source, per form.',
  'look.requests': 'Requests of the poll that found the forms to read.',
  'look.ms': 'Its duration in milliseconds.',
  'error.code': 'Problem code. `error` replaces the document if the command fails as a whole.',
  'error.message': 'The message for that code.',
};

/** What `status --json` prints. Pages of the status page under `/api/status` answer with the same. */
export const STATUS_FIELDS: JsonFields = {
  at: 'When the report was made. All times are ISO 8601 in UTC.',
  version: 'Version of the program.',
  state: '`ok`, `working`, `waiting`, `paused`, `attention`, `failed` or `ended`.',
  since: 'Since when, if known.',
  'problems[]': 'Problems that concern all forms: source, queue, scheduler.',
  'problems[].level': '`error` (the copy falls behind) or `warning`.',
  'problems[].code': 'Problem code; see [problems.md](problems.md).',
  'problems[].title': 'The problem in a few words.',
  'problems[].message': 'What happened.',
  'problems[].remedy': 'What to do; null if nothing.',
  'problems[].command': 'A command that does it; null if none.',
  'problems[].since': 'Since when, if known.',
  'problems[].inhibited': 'True if another problem is the cause and is reported instead.',
  'notices[]': 'Remarks about the settings.',
  'source.condition': 'How the source answers, such as `well`, `silent` or `throttling`.',
  'source.title': 'The same in a few words.',
  'source.since': 'Since when, if known.',
  'source.heardAt': 'When the source last answered.',
  'work[]': 'What workers do now.',
  'targets[].name': 'Name of the target.',
  'targets[].state': 'As `state` above.',
  'targets[].since': 'Since when, if known.',
  'targets[].kind': '`sqlite`, `postgres`, `mysql` or `google-sheets`.',
  'targets[].address': 'Address without password.',
  'targets[].readable': 'Whether it could be read just now.',
  'targets[].readAt': 'When it was last read.',
  'targets[].paused': 'Whether the whole target is paused.',
  'targets[].pause': 'The pause; null if none.',
  'targets[].problem': 'A problem of the target, with the fields of `problems[]`; null if none.',
  'forms[]': 'One entry per form and target.',
  'forms[].form.id': 'ID of the form.',
  'forms[].form.slug': 'Slug of the form.',
  'forms[].form.name': 'Name of the form.',
  'forms[].target': 'Name of the target.',
  'forms[].state': 'As `state` above.',
  'forms[].title': 'The state in a few words.',
  'forms[].since': 'Since when, if known.',
  'forms[].pause': 'The pause of the form or its target; null if none.',
  'forms[].problems': 'Problems of this form here, with the fields of `problems[]`.',
  'forms[].location': 'Table and view, or tab.',
  'forms[].url': 'Link to the tab; null for databases.',
  'forms[].table': 'Name of the table; null for spreadsheets.',
  'forms[].rows': 'Rows that are not marked deleted; null if the target could not be read.',
  'forms[].deletedRows': 'Rows marked deleted.',
  'forms[].rejected': 'Submissions that could not be stored.',
  'forms[].withheld': 'Held deletions.',
  'forms[].forgotten': 'Submissions erased with `forget`.',
  'forms[].notices': 'Changes that people made in the target and that need attention.',
  'forms[].running': 'The run in progress; null if none.',
  'forms[].lastPass': 'The last run; null before the first.',
  'forms[].lastPass.kind': '`incremental`, `full` or `compare`.',
  'forms[].lastPass.outcome': 'As `outcome` of `sync --json`.',
  'forms[].lastPass.startedAt': 'Start.',
  'forms[].lastPass.endedAt': 'End.',
  'forms[].lastPass.code': 'Problem code; null if it succeeded.',
  'forms[].lastPass.error': 'The message for that code.',
  'forms[].lastFullPass': 'The last run that read everything, with the fields of `lastPass`.',
  'forms[].covers.membership': 'The copy has exactly the submissions that existed at this time.',
  'forms[].covers.statuses': 'Statuses are as of this time.',
  'forms[].covers.answers': 'Answers are as of this time.',
  'forms[].covers.absent': 'Rows that the source no longer counts and that are not settled yet.',
  'forms[].covers.withheld': 'Held deletions.',
  'forms[].provenAt': 'When a run or poll last showed that nothing is missing.',
  'forms[].fullProvenAt': 'Since when every answer has been compared.',
  'forms[].lagSeconds': 'Seconds since `provenAt`.',
  'forms[].differsSince':
    'When a poll found a difference that no run has settled yet; null if none.',
  'forms[].overdueSince': 'Since when a successful run is overdue; null if it is not.',
  'forms[].nextRunAt': 'When the next poll is due; null if unknown.',
  'forms[].nextFullRunAt': 'When the next row comparison is due; null if unknown.',
  'forms[].goneAt': 'When the form was found deleted at the source; null while it exists.',
  queue: 'The queue; null if this process cannot see one.',
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
