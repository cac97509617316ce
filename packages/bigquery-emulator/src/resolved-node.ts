import { notDone } from './api-error.ts';
import { isRaw, textAt, type Raw } from './json-object.ts';
import { fromProto, type BqType } from './types.ts';

/** A column of a resolved statement: its ID is unique in the statement, even if its name is not. */
export interface ResolvedColumn {
  readonly id: number;
  readonly name: string;
  readonly tableName: string;
  readonly type: BqType;
}

/**
 * A node of the response of the analyzer or its parser. The responses nest each node in its base classes and in a
 * wrapper with its kind; here it is one flat set of fields. {@link only} ensures that nothing is overlooked.
 */
export class ResolvedNode {
  /** Such as `resolvedProjectScanNode`; empty for a node whose place determines its kind. */
  readonly kind: string;
  readonly #fields: Raw;

  constructor(raw: Raw) {
    let kind = '';
    let inner = raw;
    for (let next = wrapped(inner); next !== undefined; next = wrapped(inner)) {
      [kind, inner] = next;
    }
    this.kind = kind;
    this.#fields = flat(inner);
  }

  /** Throws "does not do" if any other field has a meaning. */
  only(...known: readonly string[]): this {
    for (const [key, value] of Object.entries(this.#fields)) {
      if (!known.includes(key) && !ALWAYS.has(key) && says(value)) {
        throw notDone(`${readable(this.kind)} with ${readable(key)}`);
      }
    }
    return this;
  }

  /** The node at a field; a missing node is a fault of the emulator. */
  child(field: string): ResolvedNode {
    const node = this.maybe(field);
    if (node === undefined) throw new Error(`${this.kind} lacks ${field}.`);
    return node;
  }

  maybe(field: string): ResolvedNode | undefined {
    const value = this.#fields[field];
    return isRaw(value) ? new ResolvedNode(value) : undefined;
  }

  list(field: string): ResolvedNode[] {
    const value = this.#fields[field];
    if (!Array.isArray(value)) return [];
    return value.filter(isRaw).map((item) => new ResolvedNode(item));
  }

  /** Every node directly below, with its field; nodes of lists one by one. */
  children(): (readonly [field: string, child: ResolvedNode])[] {
    return Object.entries(this.#fields).flatMap(([field, value]) => {
      const items: unknown[] = Array.isArray(value) ? value : [value];
      return items.filter(isRaw).map((item) => [field, new ResolvedNode(item)] as const);
    });
  }

  text(field: string): string {
    const value = this.#fields[field];
    return typeof value === 'string' ? value : '';
  }

  flag(field: string): boolean {
    return this.#fields[field] === true;
  }

  texts(field: string): string[] {
    const value = this.#fields[field];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** The field unchanged. */
  raw(field: string): unknown {
    return this.#fields[field];
  }

  /** The type of an expression. */
  type(field = 'type'): BqType {
    return fromProto(this.#fields[field]);
  }

  column(field = 'column'): ResolvedColumn {
    return columnOf(this.#fields[field]);
  }

  columns(field = 'columnList'): ResolvedColumn[] {
    const value = this.#fields[field];
    return Array.isArray(value) ? value.map(columnOf) : [];
  }

  /** Its position in the text, as byte offsets. */
  range(): { readonly start: number; readonly end: number } {
    const range = this.#fields['parseLocationRange'];
    if (!isRaw(range)) throw new Error(`${this.kind} has no place in the text.`);
    return { start: Number(range['start'] ?? 0), end: Number(range['end'] ?? 0) };
  }
}

/** Fields that do not affect the result. */
const ALWAYS: ReadonlySet<string> = new Set([
  'parseLocationRange',
  'nodeSource',
  'typeAnnotationMap',
  'columnList',
  'isOrdered',
  'type',
]);

function wrapped(raw: Raw): readonly [string, Raw] | undefined {
  for (const pointer of ['node', 'result']) {
    const name = raw[pointer];
    if (typeof name !== 'string') continue;
    const inner = raw[name];
    if (isRaw(inner)) return [name, inner];
  }
  return undefined;
}

function flat(raw: Raw): Raw {
  const { parent, ...own } = raw;
  return isRaw(parent) ? { ...flat(parent), ...own } : own;
}

function says(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  if (isRaw(value)) return Object.values(value).some(says);
  return value !== 0 && value !== '0';
}

const readable = (name: string): string =>
  name
    .replace(/^(resolved|ast)/, '')
    .replace(/Node$/, '')
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .toLowerCase();

function columnOf(raw: unknown): ResolvedColumn {
  if (!isRaw(raw)) throw new Error('The analyzer gave no column.');
  return {
    id: Number(raw['columnId']),
    name: textAt(raw, 'name') ?? '',
    tableName: textAt(raw, 'tableName') ?? '',
    type: fromProto(raw['type']),
  };
}

/** `resolvedProjectScanNode` in words: "project scan". */
export const kindName = (node: ResolvedNode): string => readable(node.kind);

/** The name of the function that is called, such as `$equal` or `json_value`. */
export const functionName = (node: ResolvedNode): string =>
  node
    .child('function')
    .text('name')
    .replace(/^ZetaSQL:/, '');
