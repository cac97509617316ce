/** A passage of one file, and what takes its place. */
export interface Patch {
  readonly file: string;
  /** It is there exactly once, however it is spaced. */
  readonly find: string;
  readonly replace: string;
}

/** A fault made on purpose. */
export interface Break extends Patch {
  readonly law: string;
  /** What is wrong with the program then. */
  readonly name: string;
  /** What has to go, too, where two things hold the same law. */
  readonly and?: Patch;
  /** Behaviours that the fault needs and that are drawn seldom: every history gets them, as with `--with`. */
  readonly with?: readonly string[];
  /** Why the simulation cannot catch it. */
  readonly why?: string;
}

/** The text with the fault in it. White space is of no account; throws where the passage is not there exactly once. */
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

/** Each breaks a law. Those of parts that are replaced are expressed again, in the new parts. */
export const BREAKS: readonly Break[] = [
  {
    law: 'L1',
    name: 'a row of a batch is left out',
    file: 'src/sync/row-sink.ts',
    find: 'const result = await this.#writer.apply(rows, rejections);',
    replace: `const result = await this.#writer.apply(rows.length > 2 ? rows.slice(1) : rows, rejections);
      if (rows.length > 2) (result.outcomes as unknown[]).unshift('inserted');`,
  },
  {
    law: 'L2',
    name: 'a newcomer counts as having existed at the base',
    file: 'src/mirror/proof.ts',
    find: 'if (!note.counted && (note.sure || !note.newcomer || this.#datedBeforeBase(item))) {',
    replace: 'if (!note.counted) {',
  },
  {
    law: 'L4',
    name: 'a row is written although it is the same',
    file: 'src/targets/sql/sqlite/sqlite-store.ts',
    find: '} else if (before[1] === null && isSame(values, first, before, width)) {',
    replace:
      '} else if (before[1] === null && ids.length > 1 && isSame(values, first, before, width)) {',
  },
  {
    law: 'L7',
    name: 'the status at the source is not looked at',
    file: 'src/mirror/mark-rules.ts',
    find: "return allowed.includes(status) ? { action: 'mark' } : { action: 'adopt', status };",
    replace: "return { action: 'mark' };",
  },
  {
    law: 'L7',
    name: 'the other targets are not asked',
    file: 'src/sync/mark.ts',
    find: 'for (const reader of readers) durable = durable.intersection(await reader.confirm([...durable]));',
    replace: '',
  },
  {
    law: 'L7',
    name: 'the mirror does not note the new status',
    file: 'src/sync/mark.ts',
    find: 'chunk.statuses.set(id, result.status);',
    replace: '',
  },
  {
    law: 'L8',
    name: 'absent is taken for deleted, without a request by ID',
    file: 'src/sync/deletions.ts',
    find: 'const answer = await byId.ask(id);',
    replace: "const answer = { kind: 'gone' } as Awaited<ReturnType<typeof byId.ask>>;",
  },
  {
    law: 'L8',
    name: 'an answer that says nothing counts as gone',
    file: 'src/sync/deletions.ts',
    find: "else if (answer.kind === 'gone') found.gone.push(id);",
    replace: "else if (answer.kind !== 'shown') found.gone.push(id);",
  },
  {
    law: 'L9',
    name: 'a relabelled field gets a second column',
    file: 'src/targets/sql/field-plan.ts',
    find: 'return { ...field, label, position: now.position, removedAt: null };',
    replace:
      'return { ...field, label, column: `${field.column}_2`, type: null, position: now.position, removedAt: null };',
  },
  {
    law: 'L11',
    name: 'one selected field selects them all',
    file: 'src/mirror/picks.ts',
    find: 'namesWholeForm(names, form) || names.fields.has(fieldId) ||',
    replace: 'namesWholeForm(names, form) || names.fields.size > 0 ||',
  },
  {
    law: 'L5',
    name: 'a checkpoint is committed before the rows that it speaks of',
    why: 'It loses rows only where a process dies between the two commits. Five minutes of one core drew no such crash.',
    file: 'src/sync/row-sink.ts',
    find: 'do { await this.#begin(); await this.#written(); } while (this.#pending.size > 0);',
    replace: 'await this.#begin();',
  },
  {
    law: 'L16',
    name: 'a look believes the newest page alone',
    file: 'src/sync/look-judgement.ts',
    find: 'const found = await searchForms(difference, this.#expected, this.#source);',
    replace: `if (difference.size > 0) return { ...this.#end, others, page: 'shown', by: 'newest-page' };
    const found = await searchForms(difference, this.#expected, this.#source);`,
  },
  {
    law: 'L16',
    name: 'what other forms have is never learned',
    file: 'src/sync/look-judgement.ts',
    find: "return isKnown ? { ...unknown, ...this.#end, others, page: 'shown' } : unknown;",
    replace: 'return unknown;',
  },
  {
    law: 'L17',
    name: 'a status of which the source has fewer counts as agreed',
    file: 'src/sync/count-differences.ts',
    find: 'return differences.filter(({ by }) => by !== 0)',
    replace: 'return differences.filter(({ by }) => by > 0)',
  },
  {
    law: 'L18',
    name: 'what was forgotten is not remembered',
    file: 'src/targets/sql/form-writer.ts',
    find: 'await saveForgotten(tx, dialect, formId, [...new Set(ids)], at);',
    replace: '',
  },
  {
    law: 'L2',
    name: 'a submission that comes back stays marked deleted',
    file: 'src/targets/sql/sqlite/sqlite-upsert.ts',
    find: 'SET _changed_at = $1, _deleted_at = NULL, ${sets}',
    replace: 'SET _changed_at = $1, ${sets}',
  },
  {
    law: 'L3',
    name: 'an error beside an empty list proves an empty form',
    with: ['okWithError=always-for-a-form'],
    file: 'src/forms/said-failure.ts',
    find: 'if (!Array.isArray(items) || items.length > 0) return undefined;',
    replace: 'if (!Array.isArray(items) || items.length >= 0) return undefined;',
  },
  {
    law: 'L5',
    name: 'the mirror notes the new status before the PATCH',
    file: 'src/sync/mark.ts',
    find: 'const queue = subjects.values();',
    replace: `const queue = subjects.values();
    const noted = new Map(subjects.map(({ id }) => [id, this.#request.markStatus]));
    if (!this.#request.dryRun) await this.#store({ statuses: noted, sent: [], refused: [] }, []);`,
  },
  {
    law: 'L6',
    name: 'items without an ID are dropped silently',
    file: 'src/sync/row-sink.ts',
    find: 'for (const item of items) { const pending = this.#join(item);',
    replace: `for (const item of items) {
      if (item.submission === null) continue;
      const pending = this.#join(item);`,
  },
  {
    law: 'L6',
    name: 'what is wrong with an item is not listed',
    with: ['items=defective'],
    file: 'src/mirror/row.ts',
    find: 'const reasons = new Set(isHalved ? [...defects, HALF_A_CHARACTER] : defects);',
    replace: 'const reasons = new Set(isHalved ? [HALF_A_CHARACTER] : []);',
  },
  {
    law: 'L7',
    name: 'a success is believed each time, whatever became of it',
    with: ['transitions=not-made', 'patchAnswer=empty-object'],
    file: 'src/sync/mark-submission.ts',
    find: 'if (!isProven) return',
    replace: 'if (change.httpStatus === 0) return',
  },
  {
    law: 'L7',
    name: 'a PATCH that failed is sent again without reading the status',
    file: 'src/sync/mark-submission.ts',
    find: 'const call = { signal: this.#signal, once: true, onAttempt };',
    replace: 'const call = { signal: this.#signal, once: false, onAttempt };',
  },
  {
    law: 'L7',
    name: 'a paused form is written back',
    file: 'src/sync/mark.ts',
    find: 'for (const target of this.#targets) await refusePaused(target, this.#form);',
    replace: '',
  },
  {
    law: 'L8',
    name: 'nothing holds many deletions back',
    file: 'src/sync/deletions.ts',
    find: 'if (acceptDeletes === true) return Infinity;',
    replace: 'if (maxDeleteFraction >= 0) return Infinity;',
  },
  {
    law: 'L18',
    name: 'a purge leaves rows that are old enough',
    file: 'src/cli/purge.ts',
    find: 'return DELETED(new Date(nowMs - parsed.data).toISOString());',
    replace: 'return DELETED(new Date(nowMs - parsed.data - 1e10).toISOString());',
  },
  {
    law: 'L9',
    name: 'a deleted field goes by its ID',
    file: 'src/targets/sql/field-plan.ts',
    find: 'return { ...field, position, removedAt: field.removedAt ?? at };',
    replace: 'return { ...field, label: field.id, position, removedAt: field.removedAt ?? at };',
  },
  {
    law: 'L9',
    name: 'a poll does not compare labels',
    file: 'src/sync/look-form.ts',
    find: 'return column.removedAt === null && column.label === label && column.position === position;',
    replace: 'return column.removedAt === null && label !== undefined && position >= 0;',
  },
  {
    law: 'L10',
    name: 'texts of digits become numbers',
    file: 'src/mirror/cell.ts',
    find: "if (typeof answer === 'string' || typeof answer === 'number') return answer;",
    replace: `if (typeof answer === 'string' && /^\\d+$/.test(answer.split(' ').at(-1) ?? '')) return Number(answer.split(' ').at(-1));
  if (typeof answer === 'string' || typeof answer === 'number') return answer;`,
  },
  {
    law: 'L10',
    name: 'a number keeps no more digits than a double has',
    file: 'src/forms/exact-json.ts',
    find: 'const number = parseNumber(digits) ?? digits;',
    replace: 'const number = Number(digits);',
  },
  {
    law: 'L10',
    name: 'a text among numbers is not put beside them',
    file: 'src/targets/sql/answer-parts.ts',
    find: "if (typeof cell === 'string') return cell; if (cell instanceof JsonText) return type === 'json'",
    replace: `if (typeof cell === 'string') return null;
  if (cell instanceof JsonText)
    return type === 'json'`,
  },
  {
    law: 'L11',
    name: 'a name in the settings that nothing has is let pass',
    file: 'src/sync/unmatched-names.ts',
    find: 'return [...found.values()]; } /** The names as they stand',
    replace: `return [...found.values()].slice(0, 0);
}

/** The names as they stand`,
  },
  {
    law: 'L11',
    name: 'live rows that a full run has not met are not hashed',
    file: 'src/sync/full-pass.ts',
    find: 'await hashUnmetRows(hashParts(run, open), (id) => ledger.has(id));',
    replace: '',
  },
  {
    law: 'L11',
    name: 'rows marked deleted are not hashed',
    file: 'src/sync/full-pass.ts',
    find: 'await hashDeletedRows(hashParts(run, open));',
    replace: '',
  },
  {
    law: 'L11',
    name: 'a change of what is hashed is not noticed',
    file: 'src/mirror/proven-for.ts',
    find: "if (hashed !== oldHashed && !follows) changes.push('hashes');",
    replace: 'if (hashed !== oldHashed && !follows) changes.length = 0;',
  },
  {
    law: 'L12',
    name: 'a form that fails ends the work on its target',
    file: 'src/cli/sync.ts',
    find: 'foreseen.push(rows.of(report));',
    replace: `foreseen.push(rows.of(report));
      if (report.outcome === 'failed') break;`,
  },
  {
    law: 'L13',
    name: 'nothing keeps two writers apart',
    file: 'src/targets/sql/form-lock.ts',
    find: 'if (newest !== epoch) throw lostLock(place, formId);',
    replace: '',
    and: {
      file: 'src/targets/sql/sqlite/sqlite-database.ts',
      find: 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE',
      replace: 'PRAGMA locking_mode = NORMAL',
    },
  },
  {
    law: 'L16',
    name: 'a poll ignores what the newest page shows',
    file: 'src/sync/look-judgement.ts',
    find: 'for (const formId of shown.keys()) this.#visit(formId, older.has(formId));',
    replace: 'for (const formId of older) this.#visit(formId, shown.has(formId));',
  },
  {
    law: 'L16',
    name: 'an empty list of the workspace is believed',
    file: 'src/sync/look-judgement.ts',
    find: 'if (workspace.size === 0) return judging.ofNone();',
    replace: `if (workspace.size === 0)
    return { visits, uncounted: NONE, others: facts.others, page: 'before', by: 'workspace' };`,
  },
  {
    law: 'L17',
    name: 'a claim is dated by the end of the run',
    file: 'src/sync/pass-run.ts',
    find: 'return { ledger: this.#ledger, since: this.since, provenFor: stored };',
    replace: 'return { ledger: this.#ledger, since: this.now(), provenFor: stored };',
  },
  {
    law: 'L17',
    name: 'a poll that left a form out claims it all the same',
    file: 'src/sync/look.ts',
    find: 'const unjudged = held.filter((formId) => isTorn || !settled.has(formId));',
    replace: 'const unjudged = held.filter((formId) => isTorn && !settled.has(formId));',
  },
  {
    law: 'L17',
    name: 'sync exits with 0 though a run failed',
    file: 'src/cli/sync.ts',
    find: "if (passes.some(({ outcome }) => outcome !== 'ok' && outcome !== 'cancelled'))",
    replace: "if (passes.some(({ outcome }) => outcome === 'cancelled'))",
  },
  {
    law: 'L17',
    name: 'verify exits with 0 whatever it found',
    file: 'src/cli/verify.ts',
    find: 'return stop.exitCode() ?? (comparisons.every(isWell) ? 0 : 1);',
    replace: 'return stop.exitCode() ?? (comparisons.every(isWell) ? 0 : 0);',
  },
  {
    law: 'L17',
    name: 'verify does not compare answers',
    file: 'src/sync/row-comparer.ts',
    find: "if (difference === undefined) return 'same';",
    replace: "if (difference === undefined || wanted.status === row.status) return 'same';",
  },
  {
    law: 'L17',
    name: 'the history of statuses leaves changes out',
    file: 'src/targets/sql/row-writer.ts',
    find: 'await recordStatuses(tx, dialect, changed, updated, { wasLive: true });',
    replace: '',
  },
  {
    law: 'L18',
    name: 'what was forgotten is stored again when the source shows it',
    file: 'src/targets/sql/row-writer.ts',
    find: 'const kept = gone.size === 0 ? rows : rows.filter(({ id }) => !gone.has(id));',
    replace: 'const kept = rows;',
  },
  {
    law: 'L18',
    name: 'the statuses of what was forgotten stay in the history',
    file: 'src/targets/sql/erasure.ts',
    find: "relation: dialect.relation('mirror_status_history'), idColumn: 'submission_id', ofForm: 'form_id = $2', }, ];",
    replace: `relation: dialect.relation('mirror_status_history'),
    idColumn: 'submission_id',
    ofForm: 'form_id = $2 AND 1 = 0',
  },
];`,
  },
];
