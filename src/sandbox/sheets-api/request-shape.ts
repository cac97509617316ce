import { badRequest } from './api-error.ts';
import shapes from './schema.json' with { type: 'json' };

/** See test/sandbox/sheets-discovery.ts, which extracts schema.json from Google's discovery document. */
type ShapeType = string | [ShapeType] | { map: ShapeType } | { enum: string[] };
type Shapes = Record<string, Record<string, ShapeType>>;

const SHAPES = shapes as unknown as Shapes;

/** The messages that stand for something else than an object with the properties of their schema. */
const LIST_VALUE = 'type.googleapis.com/google.protobuf.ListValue';
const MAX_VIOLATIONS = 100;

interface Violation {
  field: string;
  description: string;
}

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const join = (path: string, name: string): string =>
  path === '' ? snake(name) : `${path}.${snake(name)}`;

const TYPE_NAMES: Record<string, string> = {
  string: 'TYPE_STRING',
  boolean: 'TYPE_BOOL',
  integer: 'TYPE_INT32',
  number: 'TYPE_DOUBLE',
};

/** Walks a body beside its schema and collects what Google's JSON reader would complain about. */
class ShapeReader {
  readonly violations: Violation[] = [];

  #wrong(path: string, type: string, value: unknown): void {
    const description = `Invalid value at '${path}' (${type}), ${JSON.stringify(value)}`;
    this.violations.push({ field: path, description });
  }

  #unknown(path: string, name: string): void {
    const place = path === '' ? '' : ` at '${path}'`;
    const description = `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`;
    this.violations.push({ field: path, description });
  }

  message(name: string, value: unknown, path: string): void {
    const shape = SHAPES[name];
    if (shape === undefined) throw new Error(`schema.json has no ${name}`);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.#wrong(path, `type.googleapis.com/google.apps.sheets.v4.${name}`, value);
      return;
    }
    for (const [property, item] of Object.entries(value)) {
      if (this.violations.length >= MAX_VIOLATIONS) return;
      const type = Object.hasOwn(shape, property) ? shape[property] : undefined;
      if (type === undefined) this.#unknown(path, property);
      else this.value(type, item, join(path, property));
    }
  }

  value(type: ShapeType, value: unknown, path: string): void {
    if (value === null || value === undefined || type === 'any') return;
    if (Array.isArray(type)) this.#list(type[0], value, path);
    else if (typeof type === 'string') this.#scalar(type, value, path);
    else if ('enum' in type) this.#enum(type.enum, value, path);
    else if (typeof value !== 'object') this.#wrong(path, 'Map', value);
    else {
      for (const [key, item] of Object.entries(value)) this.value(type.map, item, `${path}.${key}`);
    }
  }

  #list(type: ShapeType, value: unknown, path: string): void {
    if (!Array.isArray(value)) {
      this.#wrong(path, LIST_VALUE, value);
      return;
    }
    for (const [index, item] of value.entries()) {
      if (this.violations.length >= MAX_VIOLATIONS) return;
      this.value(type, item, `${path}[${index}]`);
    }
  }

  #enum(names: readonly string[], value: unknown, path: string): void {
    const fits = typeof value === 'number' ? value in names : names.includes(String(value));
    if (!fits) this.#wrong(path, 'type.googleapis.com/google.apps.sheets.v4 enum', value);
  }

  #scalar(type: string, value: unknown, path: string): void {
    if (TYPE_NAMES[type] === undefined) {
      this.message(type, value, path);
      return;
    }
    const fits =
      type === 'integer'
        ? Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31
        : // The one property that Google types as a number and takes as a string elsewhere is none of ours.
          typeof value === type;
    if (!fits) this.#wrong(path, TYPE_NAMES[type], value);
  }
}

/**
 * Checks a body against Google's schema of the message `name`. Throws the 400 of an unknown name or a value of the wrong
 * type. `path` is where the body hangs in Google's request: `data` for values.update, nothing for most.
 */
export function checkShape(name: string, body: unknown, path = ''): void {
  const reader = new ShapeReader();
  reader.message(name, body, path);
  if (reader.violations.length > 0) throw badRequest(reader.violations);
}

/** True when the dotted `path` exists in the message `name`: for the `fields` parameter. */
export function hasPath(name: string, path: string): boolean {
  let type: ShapeType | undefined = name;
  for (const part of path.split('.')) {
    while (Array.isArray(type)) type = type[0];
    if (type === undefined) return false;
    if (type === 'any') return true;
    if (typeof type === 'object') {
      if ('enum' in type) return false;
      type = type.map;
      continue;
    }
    if (part === '*') return true;
    const shape: Record<string, ShapeType> | undefined = SHAPES[type];
    type = shape !== undefined && Object.hasOwn(shape, part) ? shape[part] : undefined;
  }
  return type !== undefined;
}
