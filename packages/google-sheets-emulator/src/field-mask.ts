import { badRequest, invalid } from './api-error.ts';

/** A parsed field mask: a name leads to the mask below it; `true` means everything below. `*` is kept under that name. */
export type Mask = ReadonlyMap<string, Mask> | true;

type Tree = Map<string, Tree | true>;

const camel = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

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
  const open = path.indexOf('(');
  const head = (open < 0 ? path : path.slice(0, open)).trim();
  if (open >= 0 && !path.trimEnd().endsWith(')')) throw new SyntaxError(path);
  const names = head.split(/[./]/).map((name) => camel(name.trim()));
  const last = names.pop() ?? '';
  if (last === '' || names.includes('')) throw new SyntaxError(path);
  let node = tree;
  for (const name of names) {
    const next = node.get(name);
    if (next === true) return;
    const child: Tree = next ?? new Map();
    node.set(name, child);
    node = child;
  }
  if (open < 0) {
    node.set(last, true);
    return;
  }
  const existing = node.get(last);
  if (existing === true) return;
  const child: Tree = existing ?? new Map();
  node.set(last, child);
  for (const inner of splitTop(path.trimEnd().slice(open + 1, -1))) addPath(child, inner);
}

/**
 * Parses `a,b.c,d(e,f/g)` in camel or snake case. Throws SyntaxError for a mask that cannot be read; an empty text
 * gives an empty mask.
 */
export function parseMask(text: string): Mask {
  const tree: Tree = new Map();
  if (text.trim() === '') return tree;
  for (const path of splitTop(text)) addPath(tree, path);
  return tree.get('*') === true ? true : tree;
}

/** The mask below `name`; undefined when the mask leaves the name out. */
export function below(mask: Mask, name: string): Mask | undefined {
  return mask === true ? true : (mask.get(name) ?? mask.get('*'));
}

/** True when `mask` selects any part of the dotted `path`. */
export function touches(mask: Mask, path: string): boolean {
  let node: Mask | undefined = mask;
  for (const name of path.split('.')) {
    if (node === undefined) return false;
    node = below(node, name);
  }
  return node !== undefined;
}

/** The parts of `value` that the mask selects; through arrays as Google does it. Empty objects stay, absent names do too. */
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

/** The mask of the system parameter `fields`; `known` says whether a dotted path exists in the answer's schema. */
export function responseMask(fields: string, known: (path: string) => boolean): Mask {
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
      if (name !== '*' && !known(full)) fail(full);
      check(inner, full);
    }
  };
  check(mask, '');
  return mask;
}
