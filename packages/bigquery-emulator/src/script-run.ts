import { ApiError, invalidQuery, notDone } from './api-error.ts';
import { Execution, runExpression } from './execution.ts';
import type { Step, Piece } from './script-tree.ts';
import type { Parameters, Session } from './session.ts';
import { prepareExpression, type Surroundings } from './statement.ts';
import type { BqType, BqValue } from './types.ts';

/** What a script needs to run. */
export interface ScriptContext {
  readonly session: Session;
  readonly parameters: Parameters;
  /** Catalogue, analyzer and defaults; with the variables that are known at this moment. */
  around(): Surroundings;
  nowText(): string;
  /** Runs one statement as a child of the script's job. */
  statement(step: Extract<Step, { kind: 'statement' }>): Promise<void>;
}

/** Runs steps in turn. An error that no block handles ends the script. */
export async function runSteps(context: ScriptContext, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await runStep(context, step);
}

async function runStep(context: ScriptContext, step: Step): Promise<void> {
  switch (step.kind) {
    case 'statement':
      await placed(step.piece, () => context.statement(step));
      return;
    case 'declare':
      await placed(step.piece, () => declare(context, step));
      return;
    case 'set':
      await placed(step.piece, () => assign(context, step));
      return;
    case 'if':
      await choose(context, step);
      return;
    case 'raise':
      await placed(step.piece, () => raise(context, step));
      return;
    case 'block':
      await runBlock(context, step);
      return;
    default:
      step satisfies never;
  }
}

/** Says where in the script an error is, unless the analyzer said so. */
async function placed<T>({ line, column }: Piece, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason === 'notImplemented') throw error;
    if (/ at \[\d+:\d+\]$/.test(error.message)) throw error;
    throw new ApiError(error.reason, `${error.message} at [${line}:${column}]`, error.location);
  }
}

async function declare(
  context: ScriptContext,
  { names, type, value }: Extract<Step, { kind: 'declare' }>,
): Promise<void> {
  const made = value === undefined ? undefined : await evaluate(context, value, type);
  const empty = type === undefined ? undefined : await evaluate(context, nullOf(type), undefined);
  const typed = made ?? empty;
  if (typed === undefined) throw invalidQuery('DECLARE needs a type or a default');
  for (const name of names) {
    const block = context.session.blocks.at(-1);
    block?.set(name.toLowerCase(), { type: typed.type, value: typed.value });
  }
}

const nullOf = (type: Piece): Piece => ({ ...type, text: `CAST(NULL AS ${type.text})` });

/** The value of an expression; with a type, what it does not fit is refused as an assignment is. */
async function evaluate(
  context: ScriptContext,
  piece: Piece,
  type: Piece | undefined,
): Promise<{ type: BqType; value: BqValue }> {
  const sql =
    type === undefined ? piece.text : `IF(FALSE, CAST(NULL AS ${type.text}), (${piece.text}))`;
  const prepared = await prepareExpression(sql, context.around());
  const { session, parameters } = context;
  const nowText = context.nowText();
  const execution = new Execution(session.connection, prepared, (placeholder) =>
    session.binding(placeholder, parameters, nowText),
  );
  return { type: prepared.node.type(), value: await runExpression(execution, prepared) };
}

async function assign(
  context: ScriptContext,
  { names, value }: Extract<Step, { kind: 'set' }>,
): Promise<void> {
  const variables = names.map((name) => {
    const variable = context.session.variable(name.toLowerCase());
    if (variable === undefined) throw invalidQuery(`Undeclared variable: ${name}`);
    return variable;
  });
  const [only] = variables;
  if (only !== undefined && variables.length === 1) {
    only.value = (await evaluate(context, value, typePiece(only.type, value))).value;
    return;
  }
  const struct = await evaluate(context, value, undefined);
  const parts =
    struct.type.kind === 'STRUCT' && Array.isArray(struct.value) ? struct.value : undefined;
  if (parts?.length !== variables.length) {
    throw invalidQuery('SET of several variables needs a STRUCT with as many fields');
  }
  for (const [index, variable] of variables.entries()) {
    const field = struct.type.kind === 'STRUCT' ? struct.type.fields[index] : undefined;
    if (field === undefined || field.type.kind !== variable.type.kind) {
      throw notDone('SET of several variables of other types');
    }
    variable.value = parts[index] ?? null;
  }
}

const typePiece = (type: BqType, near: Piece): Piece => ({ ...near, text: typeText(type) });

function typeText(type: BqType): string {
  if (type.kind === 'ARRAY') return `ARRAY<${typeText(type.element)}>`;
  if (type.kind !== 'STRUCT') return type.kind;
  return `STRUCT<${type.fields.map(({ name, type }) => `${name} ${typeText(type)}`).join(', ')}>`;
}

async function choose(context: ScriptContext, step: Extract<Step, { kind: 'if' }>): Promise<void> {
  for (const { condition, steps } of step.branches) {
    const { type, value } = await placed(condition, () => evaluate(context, condition, undefined));
    if (type.kind !== 'BOOL') throw invalidQuery('IF needs a condition of type BOOL');
    if (value === 'true') {
      await runSteps(context, steps);
      return;
    }
  }
  await runSteps(context, step.otherwise);
}

async function raise(
  context: ScriptContext,
  { message }: Extract<Step, { kind: 'raise' }>,
): Promise<void> {
  if (message === undefined) {
    const current = context.session.system.get('error.message');
    if (typeof current !== 'string')
      throw invalidQuery('RAISE without a message is for exception handlers');
    throw invalidQuery(current);
  }
  const { value } = await evaluate(context, message, undefined);
  throw invalidQuery(typeof value === 'string' ? value : 'NULL');
}

async function runBlock(
  context: ScriptContext,
  { steps, handler }: Extract<Step, { kind: 'block' }>,
): Promise<void> {
  const { blocks, system } = context.session;
  const depth = blocks.length;
  blocks.push(new Map());
  try {
    await runSteps(context, steps);
  } catch (error) {
    if (
      !(error instanceof ApiError) ||
      error.reason === 'notImplemented' ||
      handler === undefined
    ) {
      throw error;
    }
    blocks.length = depth;
    system.set('error.message', error.message);
    await runSteps(context, handler);
    system.delete('error.message');
  } finally {
    blocks.length = depth;
  }
}
