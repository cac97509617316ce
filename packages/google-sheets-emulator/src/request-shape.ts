import { badRequest } from './api-error.ts';
import shapes from './schema.json' with { type: 'json' };

/**
 * The type of a message's property: a JSON type, the name of another message, a list `[of]`, a map `{map: of}`, `{enum: names}`, or
 * `any` if it is not checked. `schema.json` is an extract of Google's discovery document.
 */
type ShapeType = string | [ShapeType] | { map: ShapeType } | { enum: string[] };
type Shapes = Record<string, Record<string, ShapeType>>;

const SHAPES = shapes as unknown as Shapes;

/** A violation of a schema: its path in the value, and the reason. */
interface Misfit {
  readonly path: string;
  readonly why: string;
}

const wrong = (value: unknown): Misfit => ({
  path: '',
  why: `Invalid value ${JSON.stringify(value)}`,
});

/** The first violation among some parts. The path is joined only for that one: a body may have 100,000 cells. */
function firstMisfit(
  parts: Iterable<readonly [name: string | number, value: unknown]>,
  typeOf: (name: string) => ShapeType | undefined,
): Misfit | undefined {
  for (const [name, value] of parts) {
    const type = typeOf(String(name));
    const found = type === undefined ? { path: '', why: 'Cannot find field' } : misfit(type, value);
    if (found !== undefined)
      return {
        ...found,
        path: typeof name === 'number' ? `[${name}]${found.path}` : `.${name}${found.path}`,
      };
  }
  return undefined;
}

function misfit(type: ShapeType, value: unknown): Misfit | undefined {
  if (value === null || value === undefined || type === 'any') return undefined;
  if (Array.isArray(type))
    return Array.isArray(value) ? firstMisfit(value.entries(), () => type[0]) : wrong(value);
  if (typeof type === 'object' && 'enum' in type)
    return typeof value === 'string' && type.enum.includes(value) ? undefined : wrong(value);
  if (type === 'integer')
    return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31 ? undefined : wrong(value);
  if (typeof type === 'string' && SHAPES[type] === undefined)
    return typeof value === type ? undefined : wrong(value);
  if (typeof value !== 'object' || Array.isArray(value)) return wrong(value);
  const shape = typeof type === 'string' ? SHAPES[type] : undefined;
  return firstMisfit(Object.entries(value), (name) => {
    if (typeof type === 'object') return type.map;
    return shape !== undefined && Object.hasOwn(shape, name) ? shape[name] : undefined;
  });
}

/** Checks a body against Google's schema of the message `name`. Throws a 400 for an unknown name or a value of the wrong type. */
export function checkShape(name: string, body: unknown): void {
  const found = body === null ? wrong(body) : misfit(name, body);
  if (found === undefined) return;
  const field = found.path.replace(/^\./, '');
  throw badRequest([
    { field, description: `Invalid JSON payload received. ${found.why} at '${field}'.` },
  ]);
}

/** True if the dotted `path` exists in the message `name`: for the `fields` parameter. */
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
