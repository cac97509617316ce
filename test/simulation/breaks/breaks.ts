/** A passage of one file, and its replacement. */
export interface Patch {
  readonly file: string;
  /** It occurs exactly once, with any spacing. */
  readonly find: string;
  readonly replace: string;
}

/** A deliberate fault. */
export interface Break extends Patch {
  readonly law: string;
  /** The defect that it gives the program. */
  readonly name: string;
  /** Another passage that must be changed, too, if two passages hold the same law. */
  readonly and?: Patch;
  /** Behaviors that the fault needs and that are rarely drawn: every history gets them, as with `--with`. */
  readonly with?: readonly string[];
  /** It is in the code for spreadsheets: histories have one, in which people rearrange much. */
  readonly isOfSheets?: boolean;
  /** Why the simulation cannot catch it. */
  readonly why?: string;
}

/** The text with the fault in it. Ignores white space; throws unless the passage occurs exactly once. */
export function broken(text: string, { find, replace }: Patch): string {
  const words = find
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const found = [...text.matchAll(new RegExp(words.join('\\s+'), 'g'))];
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`This passage is there ${found.length} times: ${find}`);
  return text.slice(0, only.index) + replace + text.slice(only.index + only[0].length);
}

/** What last detected a fault: the law that the program broke, and the seed of the history. */
export interface Catch {
  readonly law: string;
  readonly seed: string;
}

/** What detected each fault, by its name, from a table like {@link tableOf}. */
export const caughtIn = (table: string): Map<string, Catch> =>
  new Map(
    [...table.matchAll(/^\| L\d+ +\| (.+?) +\| (L\d+) +\| (\d+) +\|$/gm)].map(
      ([, name = '', law = '', seed = '']) => [name, { law, seed }],
    ),
  );

/** A table in Markdown of all faults and what detected them. */
export function tableOf(caught: ReadonlyMap<string, Catch>): string {
  const lines = [
    ['law', 'fault', 'caught as', 'seed'],
    ...BREAKS.map(({ law, name, why }) => {
      const found = caught.get(name);
      return [law, name, found?.law ?? `not: ${why ?? 'not yet'}`, found?.seed ?? ''];
    }),
  ];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const row = (line: readonly string[], fill: string): string =>
    `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0, fill)).join(' | ')} |`;
  const [head = [], ...rest] = lines;
  return [row(head, ' '), row(['', '', '', ''], '-'), ...rest.map((line) => row(line, ' '))].join(
    '\n',
  );
}

/** By law and name. */
const FAULTS: Readonly<Record<string, Omit<Break, 'law' | 'name'>>> = {
  'L1: a row of a batch is left out': {
    file: 'src/sync/sink.ts',
    find: 'const rows = [...this.#rows.values()];',
    replace: 'const rows = [...this.#rows.values()].slice(this.#rows.size > 2 ? 1 : 0);',
  },
  'L2: a list in random order is proven although it did not show one submission': {
    file: 'src/mirror/proof.ts',
    find: 'return this.#bases.some(({ total, since }) => since.size === total);',
    replace: 'return this.#bases.some(({ total, since }) => since.size >= total - 1);',
    with: ['bounds=refused', 'order=shuffled', 'edit'],
  },
  'L2: the first reading of a list without an end is proven by one sweep': {
    file: 'src/sync/read-range.ts',
    find: 'if (isNew && span.toMs === null && !page.isLast) sweep.noteNewcomer();',
    replace: '',
  },
  'L2: a list that moved while it was read proves what it showed': {
    file: 'src/mirror/proof.ts',
    find: "if (!this.#isSteady || !this.#isComplete) return 'moved';",
    replace: "if (!this.#isComplete) return 'moved'; if (!this.#isSteady) return 'proven';",
    with: ['delete'],
  },
  'L8: a range that shows fewer submissions than are accounted for has lost none': {
    file: 'src/sync/absent.ts',
    find: '(await accountedIn(form, query)) === keys.size)',
    replace: '(await accountedIn(form, query)) >= keys.size)',
    with: ['delete'],
  },
  'L2: the watermark moves past submissions that only later pages of the newest range show': {
    file: 'src/sync/newest.ts',
    find: 'isWhole = page.isLast || (isSorted && fromMs !== null && oldestMs < fromMs);',
    replace: 'isWhole = true;',
    with: ['delete', 'night'],
  },
  'L2: a submission that comes back stays marked deleted': {
    file: 'src/targets/sql/write-rows.ts',
    find: '_changed_at = excluded._changed_at, _deleted_at = NULL`,',
    replace: '_changed_at = excluded._changed_at`,',
  },
  'L2: a submission that comes back unchanged is left out': {
    file: 'src/targets/sql/sqlite/sqlite-dialect.ts',
    find: 'WHERE id = ?1 AND _deleted_at IS NULL AND',
    replace: 'WHERE id = ?1 AND',
  },
  'L3: an error beside an empty list proves an empty form': {
    with: ['okWithError=always-for-a-form'],
    file: 'src/forms/wire.ts',
    find: 'items.length === 0 && (isSomething(error)',
    replace: 'items.length < 0 && (isSomething(error)',
  },
  'L3: a source that ignores formId is believed': {
    file: 'src/sync/sync.ts',
    find: 'profile.learn({ hasForms: isApart });',
    replace: 'if (!isApart) return; profile.learn({ hasForms: isApart });',
    with: ['formFilter=ignored', 'itemForm=missing'],
  },
  'L4: a row is written although it has not changed': {
    file: 'src/targets/sql/write-rows.ts',
    find: '`(t._deleted_at IS NOT NULL OR ${staging.differs(names)})`;',
    replace: '`(t._deleted_at IS NOT NULL OR ${rows.length} = 1 OR ${staging.differs(names)})`;',
    and: {
      file: 'src/targets/sql/sqlite/sqlite-dialect.ts',
      find: 'comparedWith === undefined',
      replace: 'comparedWith === undefined || rows.length === 1',
    },
  },
  'L5: a range counts as read before its rows are stored': {
    file: 'src/sync/due.ts',
    find: 'await readRange(work, range, range.readAtMs === null, 0, first);',
    replace: `await sink.note((state) => rangeRead(state, range.toMs, beganMs));
    await sink.flush({ entries: [] });
    await readRange(work, range, range.readAtMs === null, 0, first);`,
    with: ['edit', 'crash'],
  },
  'L5: the mirror notes the new status before the PATCH': {
    file: 'src/sync/write-back.ts',
    find: 'let fatal: unknown;',
    replace: `let fatal: unknown;
  for (const { form: held } of opened)
    for await (const rows of held.rows({ ids }, true))
      await held.commit({ rows: rows.map((row) => ({ ...row, status: rule.to })) });`,
    with: ['crash'],
  },
  'L6: items without an ID are dropped silently': {
    file: 'src/mirror/row.ts',
    find: 'if (row !== null && reasons.length === 0) return { row, entry: null };',
    replace: 'if (row === null || reasons.length === 0) return { row, entry: null };',
  },
  'L6: the defects of an item are not listed': {
    with: ['items=defective'],
    file: 'src/mirror/row.ts',
    find: 'let reasons = defects;',
    replace: 'let reasons = submission === null ? defects : [];',
  },
  'L7: the status at the source is not read': {
    file: 'src/sync/write-back.ts',
    find: 'if (status === null || !from.includes(status))',
    replace: 'if (status === null)',
  },
  'L7: the other targets are not asked': {
    file: 'src/sync/write-back.ts',
    find: 'for (const id of wanted) if (!durable.has(id)) wanted.delete(id);',
    replace: '',
  },
  'L7: the mirror does not note the new status': {
    file: 'src/sync/write-back.ts',
    find: 'await sink.add(shown);',
    replace: '',
  },
  'L7: a success is believed each time, even if the status did not change': {
    with: ['transitions=not-made', 'patchAnswer=empty-object'],
    file: 'src/sync/write-back.ts',
    find: "if (statusOf(after) === to) return { shown: after, what: 'written', reason: '' };",
    replace: `if (after?.submission === null || refusal === null) {
    const made = after?.submission ? { ...after, submission: { ...after.submission, status: to } } : null;
    return { shown: made, what: 'written', reason: '' };
  }`,
  },
  'L7: a PATCH that failed is sent again without reading the status': {
    file: 'src/forms/source.ts',
    find: 'const call = { ...this.#call, once: true, onAttempt };',
    replace: 'const call = { ...this.#call, once: false, onAttempt };',
  },
  'L7: a paused form is written back': {
    file: 'src/sync/target.ts',
    find: 'if (pause === null) return;',
    replace: 'if (pause !== undefined) return;',
  },
  'L8: an absent submission counts as deleted without a request by ID': {
    file: 'src/sync/absent.ts',
    find: "if (answer.kind === 'gone') gone.push(id);",
    replace: "if (answer.kind === 'gone' || id !== undefined) gone.push(id);",
  },
  'L8: an ambiguous answer counts as gone': {
    file: 'src/sync/absent.ts',
    find: "if (answer.kind === 'gone') gone.push(id);",
    replace: "if (answer.kind === 'gone' || ['undecided'].includes(answer.kind)) gone.push(id);",
    with: ['sickId=500', 'delete'],
  },
  'L8: many deletions are not held': {
    file: 'src/sync/absent.ts',
    find: 'return held + Math.max(more, shortBy) > deletionsLeft(form.state, target, asked);',
    replace:
      'return held + Math.max(more, shortBy) > deletionsLeft(form.state, target, asked) * Infinity;',
  },
  'L9: a relabeled field gets a second column': {
    file: 'src/mirror/fields.ts',
    find: '{ ...fresh, ...fields.get(id), id,',
    replace:
      '{ ...fresh, ...(before.find((each) => each.id === id)?.label === label && fields.get(id)), id,',
  },
  'L9: a deleted field gets its ID as its label': {
    file: 'src/mirror/fields.ts',
    find: 'for (const { id, label } of known) add(id, label);',
    replace: 'for (const { id } of known) add(id, id);',
  },
  'L9: a poll does not compare labels': {
    file: 'src/sync/poll.ts',
    find: 'return now === undefined ? isInForm : now.label !== label || !isInForm;',
    replace: 'return now === undefined ? isInForm : label === undefined;',
    with: ['relabel'],
  },
  'L10: texts of digits become numbers': {
    file: 'src/mirror/cells.ts',
    find: "if (typeof answer === 'string' || typeof answer === 'number') return answer;",
    replace: `if (typeof answer === 'string' && /^\\d+$/.test(answer.split(' ').at(-1) ?? '')) return Number(answer.split(' ').at(-1));
  if (typeof answer === 'string' || typeof answer === 'number') return answer;`,
  },
  'L10: a number keeps no more digits than a double has': {
    file: 'src/mirror/json.ts',
    find: 'return parseNumber(context.source) ?? context.source;',
    replace: 'return value;',
  },
  'L10: a text among numbers is not stored beside them': {
    file: 'src/targets/sql/fields.ts',
    find: 'if (textColumn !== null) values.push(value === undefined ? cellText(cell) : null);',
    replace:
      "if (textColumn !== null) values.push(typeof cell === 'string' ? null : cellText(cell));",
  },
  'L11: one selected field selects them all': {
    file: 'src/mirror/selection.ts',
    find: "return (id) => ids.has('*') || ids.has(id);",
    replace: 'return () => ids.size > 0;',
  },
  'L11: an unknown name in the settings is not reported': {
    file: 'src/sync/names.ts',
    find: 'return [...found.values()];',
    replace: 'return [...found.values()].slice(0, 0);',
  },
  'L11: stored answers are not hashed when hashing is enabled': {
    file: 'src/sync/open-form.ts',
    find: 'if (fieldIds.length > 0) rehashed = await form.erase(',
    replace: 'if (fieldIds.length > 1e6) rehashed = await form.erase(',
  },
  'L11: a change of the hashed fields is not noticed': {
    file: 'src/mirror/selection.ts',
    find: 'hashing: fingerprint([...hashed, key, String(HASH_FORMAT)]),',
    replace: "hashing: fingerprint([String(HASH_FORMAT + hashed.length * 0), key && '']),",
  },
  'L12: a form that fails ends the command': {
    file: 'src/cli/sync.ts',
    find: 'ended(place, await run(place, own ?? []));',
    replace: `const report = await run(place, own ?? []);
        ended(place, report);
        if (report.outcome === 'failed') throw report.failure ?? report;`,
  },
  'L13: nothing separates two writers': {
    file: 'src/targets/sql/form.ts',
    find: 'WHERE form_id = $3 AND revision = $4',
    replace: 'WHERE form_id = $3 AND revision <> -1 - $4',
    and: {
      file: 'src/targets/sql/sqlite/file-lock.ts',
      find: 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE',
      replace: 'PRAGMA locking_mode = NORMAL',
    },
  },
  'L16: a poll relies only on the newest page': {
    file: 'src/sync/poll.ts',
    find: 'if (difference.isNone) {',
    replace: 'if (known.formIds.length >= 0) {',
  },
  'L16: a poll ignores the newest page': {
    file: 'src/sync/poll-search.ts',
    find: 'return found; } /** The recorded numbers',
    replace: 'return new Set(); } /** The recorded numbers',
  },
  'L16: an empty list of the workspace is believed': {
    file: 'src/sync/poll.ts',
    find: 'if (!isCounted || !isSorted || !isNamed) return open(all);',
    replace: 'if (!isSorted || !isNamed) return open(all);',
    with: ['workspaceList=empty'],
  },
  'L16: a newcomer is not read': {
    file: 'src/sync/poll.ts',
    find: 'for (const id of differing) found.add(id);',
    replace: 'for (const id of differing) if (id === undefined) found.add(id);',
  },
  'L17: a status with another number of submissions at the source counts as agreed': {
    file: 'src/sync/sync.ts',
    find: '(stored.get(status) ?? 0) === count,',
    replace: '(stored.get(status) ?? 0) + count >= 0,',
    with: ['status'],
  },
  'L17: statuses of newcomers are not compared': {
    file: 'src/sync/sync.ts',
    find: 'return isEqual && areEqualBefore(work, changed, fromMs);',
    replace: 'return isEqual && areEqualBefore(work, changed, fromMs && null);',
    with: ['new', 'status'],
  },
  'L17: a claim is dated by the end of the run': {
    file: 'src/sync/sync.ts',
    find: 'await sink.note((state) => agreed(state, atMs, onStatuses));',
    replace: 'await sink.note((state) => agreed(state, work.target.clock.now(), onStatuses));',
  },
  'L17: a form stored under other settings is still claimed': {
    file: 'src/sync/target.ts',
    find: '!isSameUnder(state.storedUnder, storedUnder(joining, identityOf(state)));',
    replace: 'state.storedUnder === storedUnder(joining, identityOf(state));',
    with: ['hash'],
  },
  'L17: status counts rows that are marked deleted': {
    file: 'src/health/judge-form.ts',
    find: 'rows: tally === undefined ? none : liveRows(tally),',
    replace: 'rows: tally === undefined ? none : liveRows(tally) + tally.deleted,',
  },
  'L17: rows that people removed are not noticed': {
    file: 'src/targets/sql/store.ts',
    find: 'state: losses.length === 0 ? state : distrust(state), losses });',
    replace: 'state: losses.length === 0 ? state : { ...state }, losses: [] });',
  },
  'L17: sync exits with 0 although a run failed': {
    file: 'src/cli/sync.ts',
    find: "runs.every(({ outcome }) => outcome === 'ok') &&",
    replace: "runs.every(({ outcome }) => outcome !== 'stopped') &&",
  },
  'L17: verify always exits with 0': {
    file: 'src/cli/verify.ts',
    find: 'return comparisons.every(isWell) ? 0 : 1;',
    replace: 'return comparisons.every(isWell) ? 0 : 0;',
  },
  'L17: verify does not compare answers': {
    file: 'src/sync/compare.ts',
    find: 'differingColumns(row, before, fields)',
    replace: 'differingColumns(row, before, [])',
  },
  'L17: the views of a new form are never made': {
    file: 'src/targets/sql/relations.ts',
    find: 'this.#made = await this.#database.transaction((tx) => makeViews(tx, this.#history));',
    replace: 'this.#made = await readMade(this.#database);',
  },
  'L17: the history of statuses lacks changes': {
    file: 'src/targets/sql/write-rows.ts',
    find: "answers === null ? 't.status <> s.status' : isOther;",
    replace: "answers === null ? '1 = 0' : isOther;",
  },
  'L18: forgotten submissions are not remembered': {
    file: 'src/targets/sql/erase.ts',
    find: "kind: 'forgotten',",
    replace: "kind: 'refused',",
  },
  'L18: a forgotten submission is stored again when the source shows it': {
    file: 'src/targets/sql/form.ts',
    find: 'const rows = await this.take((change.rows ?? []).filter(({ id }) => !forgotten.has(id)));',
    replace: 'const rows = await this.take(change.rows ?? []);',
  },
  'L18: the statuses of forgotten submissions stay in the history': {
    file: 'src/targets/sql/erase.ts',
    find: `among('submission_id', '$2')`,
    replace: `among("'no such'", '$2')`,
  },
  'L18: a purge leaves rows that are old enough': {
    file: 'src/cli/erasing.ts',
    find: 'host.clock.now() - (age ?? 0);',
    replace: 'host.clock.now() - (age ?? 0) - 1e10;',
  },
  'L17: the answers of a run that failed are claimed as newer than the submissions': {
    file: 'src/mirror/form-state.ts',
    find: 'readMs === null ? null : Math.min(readMs, submissionsAsOfMs);',
    replace: 'readMs;',
  },
  'L17: a claim covers rows of a sheet with cells that people protect': {
    isOfSheets: true,
    with: ['refusing-trigger'],
    file: 'src/mirror/form-state.ts',
    find: 'const { held, undecided, rejected } = state.tally;',
    replace: 'const [{ held, undecided }, rejected] = [state.tally, 0];',
  },
  'L9: new rows of a sheet are added below the filters and tables that end there': {
    isOfSheets: true,
    file: 'src/targets/google-sheets/rows.ts',
    find: 'laid.some(({ start, end }) => end === at && end - start > 1) &&',
    replace: 'laid.length < 0 &&',
  },
  'L11: a row that people copied in a sheet keeps the answers that must be hashed': {
    isOfSheets: true,
    with: ['hash'],
    file: 'src/targets/google-sheets/erase.ts',
    find: 'for (const row of [...places.values(), ...copies, ...withoutId]) {',
    replace: 'for (const row of places.values()) {',
  },
  'L17: copies of rows in a sheet are not reported': {
    isOfSheets: true,
    file: 'src/targets/google-sheets/notices.ts',
    find: "'ROWS_COPIED', found.copies,",
    replace: "'ROWS_COPIED', [],",
  },
  'L5: the lower one of two rows with one ID is kept up to date': {
    isOfSheets: true,
    file: 'src/targets/google-sheets/rows.ts',
    find: 'if (places.has(id)) copies.push(row); else places.set(id, row);',
    replace: 'if (places.has(id)) copies.push(row); places.set(id, row);',
  },
  'L5: a sheet is written although people moved its columns since it was read': {
    isOfSheets: true,
    file: 'src/targets/google-sheets/structure.ts',
    find: 'return [...required, ...requireMetadata({ ...mark, id: end.id, place: there }, { place })];',
    replace: 'return [];',
  },
};

/** Each breaks a law, in the order of the table. */
export const BREAKS: readonly Break[] = Object.entries(FAULTS).map(([what, fault]) => {
  const [law = '', name = ''] = what.split(/: (.*)/);
  return Object.assign({ law, name }, fault);
});
