import { badRequest } from './api-error.ts';
import shapes from './schema.json' with { type: 'json' };

/** See test/support/discovery.ts, which extracts schema.json from Google's discovery document. */
type ShapeType = string | [ShapeType] | { map: ShapeType } | { enum: string[] };
type Shapes = Record<string, Record<string, ShapeType>>;

const SHAPES = shapes as unknown as Shapes;

/** The messages that are not an object with the properties of their schema. */
const LIST_VALUE = 'type.googleapis.com/google.protobuf.ListValue';
const MAX_VIOLATIONS = 100;

interface Violation {
  field: string;
  description: string;
}

/** Where in the body a value is: joined to a text only for a complaint, for a body may hold 100,000 cells. */
interface Place {
  readonly parent: Place | undefined;
  readonly name: string | number;
}

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function pathOf(place: Place | undefined): string {
  if (place === undefined) return '';
  const before = pathOf(place.parent);
  if (typeof place.name === 'number') return `${before}[${place.name}]`;
  return before === '' ? snake(place.name) : `${before}.${snake(place.name)}`;
}

const TYPE_NAMES: Record<string, string> = {
  string: 'TYPE_STRING',
  boolean: 'TYPE_BOOL',
  integer: 'TYPE_INT32',
  number: 'TYPE_DOUBLE',
};

/** Walks a body beside its schema and collects what Google's JSON reader would complain about. */
class ShapeReader {
  readonly violations: Violation[] = [];

  get #full(): boolean {
    return this.violations.length >= MAX_VIOLATIONS;
  }

  #wrong(place: Place | undefined, type: string, value: unknown): void {
    const path = pathOf(place);
    const description = `Invalid value at '${path}' (${type}), ${JSON.stringify(value)}`;
    this.violations.push({ field: path, description });
  }

  #unknown(place: Place | undefined, name: string): void {
    const path = pathOf(place);
    const at = path === '' ? '' : ` at '${path}'`;
    const description = `Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`;
    this.violations.push({ field: path, description });
  }

  message(name: string, value: unknown, place: Place | undefined): void {
    const shape = SHAPES[name];
    if (shape === undefined) throw new Error(`schema.json has no ${name}`);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.#wrong(place, `type.googleapis.com/google.apps.sheets.v4.${name}`, value);
      return;
    }
    const body = value as Record<string, unknown>;
    for (const property of Object.keys(body)) {
      if (this.#full) return;
      const type = Object.hasOwn(shape, property) ? shape[property] : undefined;
      if (type === undefined) this.#unknown(place, property);
      else this.value(type, body[property], { parent: place, name: property });
    }
  }

  value(type: ShapeType, value: unknown, place: Place): void {
    if (value === null || value === undefined || type === 'any') return;
    if (typeof type === 'string') this.#scalar(type, value, place);
    else if (Array.isArray(type)) this.#list(type[0], value, place);
    else if ('enum' in type) this.#enum(type.enum, value, place);
    else if (typeof value !== 'object') this.#wrong(place, 'Map', value);
    else {
      for (const [key, item] of Object.entries(value)) {
        this.value(type.map, item, { parent: place, name: key });
      }
    }
  }

  #list(type: ShapeType, value: unknown, place: Place): void {
    if (!Array.isArray(value)) {
      this.#wrong(place, LIST_VALUE, value);
      return;
    }
    for (let index = 0; index < value.length && !this.#full; index++) {
      this.value(type, value[index], { parent: place, name: index });
    }
  }

  #enum(names: readonly string[], value: unknown, place: Place): void {
    const fits = typeof value === 'number' ? value in names : names.includes(String(value));
    if (!fits) this.#wrong(place, 'type.googleapis.com/google.apps.sheets.v4 enum', value);
  }

  #scalar(type: string, value: unknown, place: Place): void {
    const named = TYPE_NAMES[type];
    if (named === undefined) {
      this.message(type, value, place);
      return;
    }
    const fits =
      type === 'integer'
        ? Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31
        : typeof value === type;
    if (!fits) this.#wrong(place, named, value);
  }
}

/**
 * Checks a body against Google's schema of the message `name`. Throws the 400 of an unknown name or a value of the wrong
 * type.
 */
export function checkShape(name: string, body: unknown): void {
  const reader = new ShapeReader();
  reader.message(name, body, undefined);
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
