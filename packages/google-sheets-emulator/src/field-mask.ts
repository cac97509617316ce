import { badRequest, invalid } from './api-error.ts';
import { hasPath } from './request-shape.ts';

/**
 * A parsed field mask: a name leads to the mask below it; `true` means everything below. `*` is stored under that name.
 */
export type Mask = ReadonlyMap<string, Mask> | true;

type Tree = Map<string, Tree | true>;

/** Splits at commas outside parentheses. */
function splitTop(text: string): string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === ',' && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
    if (depth < 0) throw new SyntaxError(text);
  }
  if (depth !== 0) throw new SyntaxError(text);
  parts.push(text.slice(start));
  return parts;
}

function addPath(tree: Tree, path: string): void {
  const [, head = '', inner] = /^([^()]*)(?:\((.*)\))?$/.exec(path) ?? [];
  const names = head.split('.');
  if (names.includes('')) throw new SyntaxError(path);
  let node: Tree | true = tree;
  for (const [at, name] of names.entries()) {
    if (node === true) return;
    const isWhole = at === names.length - 1 && inner === undefined;
    const next: Tree | true = isWhole ? true : (node.get(name) ?? new Map());
    node.set(name, next);
    node = next;
  }
  if (node === true || inner === undefined) return;
  for (const part of splitTop(inner)) addPath(node, part);
}

/** Parses `a,b.c,d(e,f)`. Throws SyntaxError for a mask that cannot be read; an empty text gives an empty mask. */
export function parseMask(text: string): Mask {
  const tree: Tree = new Map();
  if (text === '') return tree;
  for (const path of splitTop(text)) addPath(tree, path);
  return tree.get('*') === true ? true : tree;
}

/** The mask below `name`; undefined if the mask leaves the name out. */
export function below(mask: Mask, name: string): Mask | undefined {
  return mask === true ? true : (mask.get(name) ?? mask.get('*'));
}

/** True if `mask` selects any part of the dotted `path`. */
export function touches(mask: Mask, path: string): boolean {
  let node: Mask | undefined = mask;
  for (const name of path.split('.')) {
    if (node === undefined) return false;
    node = below(node, name);
  }
  return node !== undefined;
}

/**
 * The parts of `value` that the mask selects, also inside arrays, as Google does. Empty objects stay, and absent names stay
 * absent.
 */
export function select(value: unknown, mask: Mask): unknown {
  if (mask === true || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => select(item, mask));
  const picked: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const inner = below(mask, name);
    if (inner !== undefined) picked[name] = select(item, inner);
  }
  return picked;
}

/** `target` with the masked fields replaced by those of `source`; a field that `source` lacks is cleared. */
export function merge<T extends object>(target: T, source: object, mask: Mask): T {
  if (mask === true) return { ...source } as T;
  const merged: Record<string, unknown> = { ...(target as Record<string, unknown>) };
  const given = source as Record<string, unknown>;
  for (const [name, inner] of mask) {
    const [old, fresh] = [merged[name], given[name]];
    if (inner === true || Array.isArray(fresh)) {
      if (fresh === undefined || fresh === null) delete merged[name];
      else merged[name] = fresh;
      continue;
    }
    const part = merge(isObject(old) ? old : {}, isObject(fresh) ? fresh : {}, inner);
    if (Object.keys(part).length === 0 && !isObject(fresh)) delete merged[name];
    else merged[name] = part;
  }
  return merged as T;
}

const isObject = (value: unknown): value is object => value !== null && typeof value === 'object';

/** The mask of an update request. Throws Google's texts for a mask that is missing or cannot be read. */
export function updateMask(fields: string | null | undefined): Mask {
  const mask = (() => {
    try {
      return parseMask(fields ?? '');
    } catch {
      throw invalid(`Invalid field: ${fields ?? ''}`);
    }
  })();
  if (mask !== true && mask.size === 0) {
    throw invalid(
      "At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)",
    );
  }
  return mask;
}

/** The mask of the system parameter `fields`, for an answer of some message. */
export function responseMask(fields: string, message: string): Mask {
  const fail = (path: string): never => {
    const description = `Error expanding 'fields' parameter. Cannot find matching fields for path '${path}'.`;
    const error = badRequest([{ field: path, description }]);
    throw Object.assign(error, { message: 'Request contains an invalid argument.' });
  };
  let mask: Mask;
  try {
    mask = parseMask(fields);
  } catch {
    return fail(fields);
  }
  const check = (node: Mask, path: string): void => {
    if (node === true) return;
    for (const [name, inner] of node) {
      const full = path === '' ? name : `${path}.${name}`;
      if (name !== '*' && !hasPath(message, full)) fail(full);
      check(inner, full);
    }
  };
  check(mask, '');
  return mask;
}
