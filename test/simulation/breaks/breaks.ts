/** A fault made on purpose: a passage of one file, and what takes its place. */
export interface Break {
  readonly law: string;
  /** What is wrong with the program then. */
  readonly name: string;
  readonly file: string;
  /** A passage that is there exactly once, however it is spaced. */
  readonly find: string;
  readonly replace: string;
  /** The seed to begin with. */
  readonly from?: number;
  /** Why the simulation cannot catch it. */
  readonly why?: string;
}

/** Chosen from those that the specification records, and some in parts that it does not reach. */
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
    law: 'L2',
    name: 'as many distinct IDs as total count as the proof',
    file: 'src/mirror/proof.ts',
    find: 'return this.#base !== undefined && this.#counted === this.#base.total;',
    replace: 'return this.#base !== undefined && this.#ids.size >= this.#base.total;',
  },
  {
    law: 'L2',
    name: 'an incremental pass stops while newcomers are missing',
    file: 'src/sync/incremental-scan.ts',
    find: 'if (this.#missing > 0) return false;',
    replace: '',
  },
  {
    law: 'L2',
    name: 'an incremental pass ignores that the list moved meanwhile',
    file: 'src/sync/incremental-scan.ts',
    find: "return same ? 'complete' : 'moved';",
    replace: "return 'complete';",
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
    replace:
      'for (const reader of readers.slice(0, 1)) durable = durable.intersection(await reader.confirm([...durable]));',
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
    find: "return isKnown ? { ...unknown, others, page: 'afterwards' } : unknown;",
    replace: 'return unknown;',
  },
  {
    law: 'L17',
    name: 'counts that differ in the end count as agreed',
    file: 'src/sync/compare-counts.ts',
    find: "if (obstacle !== null || round >= maxRounds) return this.#end(obstacle ?? 'moving');",
    replace: 'if (obstacle !== null || round >= maxRounds) return this.#end(null);',
  },
  {
    law: 'L18',
    name: 'what was forgotten is not remembered',
    file: 'src/targets/sql/form-writer.ts',
    find: 'await saveForgotten(tx, dialect, formId, [...new Set(ids)], at);',
    replace: '',
  },
];
