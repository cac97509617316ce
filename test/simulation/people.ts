import { DatabaseSync } from 'node:sqlite';
import { existsSync } from 'node:fs';
import { namesForms } from './behaviours.ts';
import type { Special } from './judge.ts';
import type { Deed, Plan } from './plan.ts';
import type { Place } from './stores.ts';
import type { Random } from './random.ts';
import type { Source, SourceForm } from './source.ts';
import type { Banned } from './traces.ts';

/** A person's next action: on the target itself, or with a command. */
export interface PlannedDeed {
  readonly text: string;
  /** A command line; changes to a file have already been made. */
  readonly args?: readonly string[];
  /** Before the command runs, which may die. */
  readonly begun?: () => void;
  readonly done?: (code: number) => void;
  /** Other settings, only for this command; they contain a mistake, and nothing may change. */
  readonly mistaken?: Readonly<Record<string, string>>;
  /** The target in which nothing is left. */
  readonly empties?: string;
  /** Rows that were marked deleted before this time must be removed (milliseconds). */
  readonly purgesBefore?: number;
}

const HASH_KEY = { HASH_KEY: 'a-key-of-thirty-two-characters-at-least' };

/** People at the targets and at the settings, with the facts about them that are needed to judge a claim. */
export class People {
  readonly #source: Source;
  readonly #targets: readonly string[];
  readonly #path: (target: string) => string;
  readonly #places: ReadonlyMap<string, Place>;
  readonly #touched = new Map<string, number>();
  /** Possibly forgotten: the command may have died. */
  readonly #forgotten = new Set<string>();
  readonly #erased = new Set<string>();
  /** Undefined: every field. */
  #selected: Set<string> | undefined;
  /** The forms that are mirrored; undefined: all of them. */
  readonly #chosen: readonly string[] | undefined;
  readonly #hashed = new Set<string>();
  readonly #privateSince = new Map<string, number>();
  /** Forms that are certainly paused, with the start times. */
  readonly #paused = new Map<string, number>();
  /** Forms whose pause command may have died. */
  readonly #perhapsPaused = new Set<string>();
  /** Forms whose cells are or were protected, by target and form. */
  readonly #protected = new Set<string>();
  /** Targets in which a trigger refuses rows. */
  readonly #refusing = new Set<string>();

  constructor(
    source: Source,
    targets: readonly string[],
    plan: Plan,
    path: (target: string) => string,
    places: ReadonlyMap<string, Place>,
  ) {
    this.#places = places;
    this.#source = source;
    this.#targets = targets;
    this.#path = path;
    if (plan.chooses) this.#chosen = source.forms.slice(0, -1).map(({ id }) => id);
    if (plan.hasSecret)
      this.#selected = new Set(
        source.forms
          .filter(({ id }) => this.isChosen(id))
          .flatMap(({ fields }) =>
            fields.filter(({ kind }) => kind !== 'secret').map(({ id }) => id),
          ),
      );
  }

  /** Nothing is paused, refused, protected or selected. */
  get isUsual(): boolean {
    return [this.#perhapsPaused, this.#hashed, this.#refusing, this.#protected].every(
      ({ size }) => size === 0,
    );
  }

  /** The settings name a form or a field that the source no longer has. */
  get namesWhatIsGone(): boolean {
    const there = this.#source.forms
      .filter(({ exists }) => exists)
      .flatMap(({ fields }) => fields.filter(({ exists }) => exists));
    if (this.#source.forms.some(({ id, exists }) => !exists && this.#chosen?.includes(id) === true))
      return true;
    const names = [...(this.#selected ?? []), ...this.#hashed];
    // If no form shows its fields, a name is known only from the available answers.
    if (this.#source.behaviour.sections === 'absent' && names.length > 0) return true;
    return names.some((id) => !there.some((field) => field.id === id));
  }

  settings(): Record<string, string> {
    const hashed = [...this.#hashed].join(',');
    return {
      ...(this.#chosen === undefined ? {} : { TARGET_FORMS: this.#chosen.join(',') }),
      TARGET_FIELDS: this.#selected === undefined ? '*' : [...this.#selected].join(','),
      ...(hashed === '' ? {} : { TARGET_HASH_FIELDS: hashed, ...HASH_KEY }),
    };
  }

  /** Whether a trigger refuses rows in a target, or cells of a form are or were protected there. */
  isRefusing(target: string, formId: string): boolean {
    return this.#refusing.has(target) || this.#protected.has(`${target} ${formId}`);
  }

  /** Whether a form is mirrored. */
  isChosen(formId: string): boolean {
    return this.#chosen?.includes(formId) ?? true;
  }

  /** Whether a form was certainly paused at an instant; by default now. */
  isPaused(formId: string, at = this.#source.now): boolean {
    return (this.#paused.get(formId) ?? Infinity) <= at;
  }

  /** Data that may be in no file. */
  banned(): Banned {
    return { erased: this.#erased, privateSince: this.#privateSince, hashed: this.#hashed };
  }

  special(): Special {
    return {
      forgotten: this.#forgotten,
      erased: this.#erased,
      touched: this.#touched,
      isProtected: (target, formId) => this.#protected.has(`${target} ${formId}`),
      isSelected: (fieldId) => this.#selected?.has(fieldId) ?? true,
      isHashed: (fieldId) => this.#hashed.has(fieldId),
    };
  }

  /** A person does something to each spreadsheet. `place`: the target and the form. */
  actInSheets(random: Random): { place: string; text: string }[] {
    return [...this.#places].flatMap(([target, sheet]) => {
      const act = sheet.act?.(random) ?? null;
      if (act === null) return [];
      const { formId, text, effect } = act;
      if (effect !== 'none') this.#noteHarm(target, formId, effect);
      return [{ place: `${target} ${formId}`, text: `${text} in ${target}` }];
    });
  }

  /** Whether they have since then removed rows or cells of a form. */
  hasHarmed(target: string, formId: string, since: number): boolean {
    return (this.#touched.get(`${target} ${formId}`) ?? 0) > since;
  }

  /** People did something to a sheet that no earlier claim covers. */
  #noteHarm(target: string, formId: string, effect: 'loss' | 'protection'): void {
    this.#touched.set(`${target} ${formId}`, this.#source.now);
    if (effect === 'protection') this.#protected.add(`${target} ${formId}`);
  }

  /** Removes triggers and protections; returns the commands that end all pauses. */
  toNormal(): string[][] {
    for (const place of this.#places.values()) place.mend?.();
    for (const target of this.#refusing) {
      const database = new DatabaseSync(this.#path(target));
      database.exec('DROP TRIGGER IF EXISTS refuses');
      database.close();
    }
    this.#refusing.clear();
    const commands = [...this.#perhapsPaused].map((formId) => ['resume', '--form', formId]);
    this.#paused.clear();
    this.#perhapsPaused.clear();
    return commands;
  }

  /** Makes the direct changes to a target; null if there is nothing to change. */
  plan(deed: Deed, random: Random): PlannedDeed | null {
    const forms = this.#source.forms.filter(({ id, exists }) => exists && this.isChosen(id));
    const form = forms.length === 0 ? undefined : random.pick(forms);
    if (form === undefined) return null;
    const target = random.pick(this.#targets);
    const ids = [...this.#source.submissions.values()]
      .filter(({ formId, defect }) => formId === form.id && defect !== 'id')
      .map(({ id }) => id);
    switch (deed) {
      case 'pause':
        return {
          text: `pause ${form.id}`,
          args: ['pause', '--form', form.id],
          begun: () => void this.#perhapsPaused.add(form.id),
          done: (code) => void (code === 0 && this.#notePaused(form.id)),
        };
      case 'resume':
        return this.#paused.has(form.id)
          ? {
              text: `resume ${form.id}`,
              args: ['resume', '--form', form.id],
              // A command that dies may have ended the pause.
              begun: () => void this.#paused.delete(form.id),
              done: (code: number) => void (code === 0 && this.#perhapsPaused.delete(form.id)),
            }
          : null;
      case 'forget': {
        const known = ids.filter((id) => !this.#forgotten.has(id));
        if (known.length === 0) return null;
        const id = random.pick(known);
        return {
          text: `forget ${id}`,
          args: ['forget', id, ...this.#formOption(form), '--yes'],
          begun: () => void this.#forgotten.add(id),
          done: (code) => void (code === 0 && this.#erased.add(id)),
        };
      }
      case 'unforget': {
        const known = ids.filter((id) => this.#forgotten.has(id));
        if (known.length === 0) return null;
        const id = random.pick(known);
        return {
          text: `forget --undo ${id}`,
          args: ['forget', '--undo', id, ...this.#formOption(form), '--yes'],
          begun: () => void this.#erased.delete(id),
          done: (code) => void (code === 0 && this.#noteBack(id)),
        };
      }
      case 'hash': {
        const field = form.fields.find(
          ({ kind, exists, id }) => kind === 'text' && exists && (this.#selected?.has(id) ?? true),
        );
        if (field === undefined || this.#hashed.has(field.id)) return null;
        this.#hashed.add(field.id);
        this.#makePrivate(field.id);
        return { text: `hash ${field.id} from now on` };
      }
      case 'deselect': {
        const all = this.#source.forms
          .filter(({ id }) => this.isChosen(id))
          .flatMap(({ fields }) => fields.map(({ id }) => id))
          .filter((id) => id !== '__proto__');
        const left = new Set(this.#selected ?? all);
        if (
          left.size < 2 ||
          this.#source.forms.some(
            ({ exists, fields }) => !exists || fields.some((field) => !field.exists),
          )
        )
          return null;
        const plain = [...left].filter((each) => !this.#hashed.has(each));
        if (plain.length === 0) return null;
        const id = random.pick(plain);
        left.delete(id);
        this.#selected = left;
        this.#makePrivate(id);
        return { text: `select all but ${id}` };
      }
      case 'misname':
        return this.#misname(random);
      case 'purge': {
        const purgesBefore = this.#source.now - 60_000;
        return {
          text: 'purge what was marked deleted a minute ago',
          args: ['purge', '--deleted-before', '1m', '--yes'],
          purgesBefore,
        };
      }
      case 'remove-rows':
      case 'drop-table':
      case 'drop-column':
      case 'edit-cell':
      case 'refusing-trigger':
      case 'dropped-database':
        return this.#atTable(deed, form, target, random);
    }
  }

  #noteBack(id: string): void {
    this.#forgotten.delete(id);
  }

  #formOption({ id }: SourceForm): string[] {
    return namesForms(this.#source.behaviour) ? ['--form', id] : [];
  }

  #notePaused(formId: string): void {
    if (!this.#paused.has(formId)) this.#paused.set(formId, this.#source.now);
  }

  /** A name that no form and no field has stops the program. */
  #misname(random: Random): PlannedDeed {
    const variable = random.pick(['TARGET_FORMS', 'TARGET_FIELDS', 'TARGET_HASH_FIELDS']);
    const before = this.settings()[variable];
    const mistaken: Record<string, string> = {
      ...(variable === 'TARGET_HASH_FIELDS' ? HASH_KEY : {}),
      [variable]: before === undefined || before === '*' ? 'no_such' : `${before},no_such`,
    };
    return {
      text: `sync with ${variable}=${mistaken[variable]}`,
      args: ['sync', '--json'],
      mistaken,
    };
  }

  /** From now on no new answer may be stored unchanged; if nothing was stored yet, no answer at all. */
  #makePrivate(fieldId: string): void {
    const isBegun = this.#targets.some((target) => existsSync(this.#path(target)));
    this.#privateSince.set(fieldId, isBegun ? this.#source.now : 0);
  }

  #touchAll(): void {
    for (const target of this.#targets)
      for (const form of this.#source.forms)
        this.#touched.set(`${target} ${form.id}`, this.#source.now);
  }

  #atTable(deed: Deed, form: SourceForm, target: string, random: Random): PlannedDeed | null {
    const place = this.#places.get(target);
    if (place?.damage !== undefined) {
      const text = place.damage(deed, form.id, random);
      if (text === null) return null;
      this.#noteHarm(target, form.id, deed === 'refusing-trigger' ? 'protection' : 'loss');
      return { text: `${text} in ${target}` };
    }
    const path = this.#path(target);
    if (!existsSync(path)) return null;
    const database = new DatabaseSync(path, { timeout: 1_000 });
    try {
      const [known] = database
        .prepare(`SELECT table_name FROM mirror_forms WHERE form_id = '${form.id}'`)
        .all();
      const table = known?.['table_name'];
      if (typeof table !== 'string') return null;
      const text = damage(database, deed, table, random);
      if (text === null) return null;
      if (deed === 'refusing-trigger') this.#refusing.add(target);
      this.#touched.set(`${target} ${form.id}`, this.#source.now);
      if (deed !== 'dropped-database') return { text: `${text} in ${target}` };
      this.#touchAll();
      // With the list of forgotten submissions (DESIGN, section 6), and the pauses.
      this.#erased.clear();
      this.#paused.clear();
      // The other target keeps its pauses.
      if (this.#targets.length === 1) this.#perhapsPaused.clear();
      return { text: `${text} in ${target}`, empties: target };
    } catch {
      return null;
    } finally {
      database.close();
    }
  }
}

/** The views that prevent dropping a table, or a column of it. */
function dropViewsOf(database: DatabaseSync, table: string): void {
  const views = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'view' AND instr(sql, ?) > 0`)
    .all(`"${table}"`);
  for (const { name } of views) database.exec(`DROP VIEW "${String(name)}"`);
}

function damage(
  database: DatabaseSync,
  deed: string,
  table: string,
  random: Random,
): string | null {
  switch (deed) {
    case 'remove-rows': {
      const rows = database.prepare(`SELECT id FROM "${table}" ORDER BY id`).all();
      if (rows.length === 0) return null;
      const ids = rows.slice(0, 1 + random.below(4)).map(({ id }) => String(id));
      for (const id of ids) database.prepare(`DELETE FROM "${table}" WHERE id = ?`).run(id);
      return `removes the rows ${ids.join(' ')} of ${table}`;
    }
    case 'drop-table':
      dropViewsOf(database, table);
      database.exec(`DROP TABLE "${table}"`);
      return `drops the table ${table}`;
    case 'drop-column': {
      const [column] = database
        .prepare(
          `SELECT column_name FROM mirror_fields WHERE column_name IS NOT NULL AND form_id = (SELECT form_id FROM mirror_forms WHERE table_name = ?)`,
        )
        .all(table);
      const name = column?.['column_name'];
      if (typeof name !== 'string') return null;
      dropViewsOf(database, table);
      database.exec(`ALTER TABLE "${table}" DROP COLUMN "${name}"`);
      return `drops the column ${name} of ${table}`;
    }
    case 'edit-cell': {
      const changes = database
        .prepare(
          `UPDATE "${table}" SET status = 'PAID' WHERE id = (SELECT min(id) FROM "${table}")`,
        )
        .run().changes;
      return Number(changes) === 0 ? null : `edits a status in ${table}`;
    }
    case 'refusing-trigger':
      database.exec(
        `CREATE TRIGGER refuses BEFORE INSERT ON "${table}" BEGIN SELECT RAISE(IGNORE); END`,
      );
      return `puts a trigger on ${table} that refuses rows`;
    case 'dropped-database':
      for (const type of ['view', 'table']) {
        for (const { name } of database
          .prepare(`SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite_%'`)
          .all(type))
          database.exec(`DROP ${type} "${String(name)}"`);
      }
      return 'drops everything';
    default:
      return null;
  }
}
