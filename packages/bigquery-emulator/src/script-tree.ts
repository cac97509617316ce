import { invalidQuery, notDone } from './api-error.ts';
import type { Aliased } from './dataset-alias.ts';
import type { ResolvedNode } from './resolved-node.ts';

/** A piece of a script's text. */
export interface Piece {
  readonly text: string;
  /** Where it begins, as people count: from 1. */
  readonly line: number;
  readonly column: number;
}

/** One step of a script. */
export type Step =
  | { readonly kind: 'statement'; readonly piece: Piece; readonly control: Control }
  | {
      readonly kind: 'declare';
      readonly piece: Piece;
      readonly names: readonly string[];
      readonly type: Piece | undefined;
      readonly value: Piece | undefined;
    }
  | {
      readonly kind: 'set';
      readonly piece: Piece;
      readonly names: readonly string[];
      readonly value: Piece;
    }
  | {
      readonly kind: 'block';
      readonly steps: readonly Step[];
      readonly handler: readonly Step[] | undefined;
    }
  | {
      readonly kind: 'if';
      readonly branches: readonly { readonly condition: Piece; readonly steps: readonly Step[] }[];
      readonly otherwise: readonly Step[];
    }
  | { readonly kind: 'raise'; readonly piece: Piece; readonly message: Piece | undefined };

/** What a statement does to transactions. */
export type Control = 'begin' | 'commit' | 'rollback' | undefined;

const CONTROLS: Readonly<Record<string, Control>> = {
  astBeginStatementNode: 'begin',
  astCommitStatementNode: 'commit',
  astRollbackStatementNode: 'rollback',
};

/**
 * The steps of a parsed script. Loops, procedures and the like are refused by name. `known`: the variables that are there
 * before it.
 */
export function scriptSteps(
  script: ResolvedNode,
  { text, restore }: Aliased,
  known: Iterable<string>,
): Step[] {
  const bytes = Buffer.from(text);
  const source: Source = (start, end) => restore(bytes.subarray(start, end).toString('utf8'));
  const list = script.child('statementListNode');
  const before = new Map([...known].map((name) => [name, undefined] as const));
  checkDeclarations(list, source, { before, isBlock: true });
  return stepsOf(list, source);
}

/** The text between two places of the script, as it was written. */
type Source = (start: number, end: number) => string;

function stepsOf(list: ResolvedNode | undefined, source: Source): Step[] {
  return (list?.list('statementList') ?? []).map((node) => stepOf(node, source));
}

function stepOf(node: ResolvedNode, source: Source): Step {
  const piece = pieceOf(node, source);
  switch (node.kind) {
    case 'astVariableDeclarationNode':
      return {
        kind: 'declare',
        piece,
        names: identifiers(node.child('variableList')),
        type: maybePiece(node.maybe('type'), source),
        value: maybePiece(node.maybe('defaultValue'), source),
      };
    case 'astSingleAssignmentNode':
      return {
        kind: 'set',
        piece,
        names: [node.child('variable').text('idString')],
        value: pieceOf(node.child('expression'), source),
      };
    case 'astAssignmentFromStructNode':
      return {
        kind: 'set',
        piece,
        names: identifiers(node.child('variables')),
        value: pieceOf(node.child('structExpression'), source),
      };
    case 'astBeginEndBlockNode': {
      const [handler] = node.maybe('handlerList')?.list('exceptionHandlerList') ?? [];
      return {
        kind: 'block',
        steps: stepsOf(node.maybe('statementListNode'), source),
        handler:
          handler === undefined ? undefined : stepsOf(handler.maybe('statementList'), source),
      };
    }
    case 'astIfStatementNode': {
      const more = node.maybe('elseifClauses')?.list('elseifClauses') ?? [];
      const branches = [
        { condition: node.child('condition'), list: node.maybe('thenList') },
        ...more.map((clause) => ({
          condition: clause.child('condition'),
          list: clause.maybe('body'),
        })),
      ];
      return {
        kind: 'if',
        branches: branches.map(({ condition, list }) => ({
          condition: pieceOf(condition, source),
          steps: stepsOf(list, source),
        })),
        otherwise: stepsOf(node.maybe('elseList'), source),
      };
    }
    case 'astRaiseStatementNode':
      return { kind: 'raise', piece, message: maybePiece(node.maybe('message'), source) };
    default:
      if (
        /While|Loop|Repeat|ForIn|CaseStatement|Call|ExecuteImmediate|SystemVariable|Return|Break|Continue/.test(
          node.kind,
        )
      ) {
        throw notDone(`the script statement ${node.kind.replace(/^ast|(Statement)?Node$/g, '')}`);
      }
      return { kind: 'statement', piece, control: CONTROLS[node.kind] };
  }
}

/** Variables by name in small letters, with the place of the declaration. */
type Declared = ReadonlyMap<string, string | undefined>;

/** Throws for declarations that stand elsewhere than at the start of a block, or of what is there already. */
function checkDeclarations(
  list: ResolvedNode | undefined,
  source: Source,
  { before, isBlock }: { readonly before: Declared; readonly isBlock: boolean },
): void {
  const declared = new Map(before);
  let mayDeclare = isBlock;
  for (const node of list?.list('statementList') ?? []) {
    if (node.kind === 'astVariableDeclarationNode') {
      if (!mayDeclare) {
        throw invalidQuery(
          `Variable declarations are allowed only at the start of a block or script at ${placeIn(node, source)}`,
        );
      }
      for (const variable of node.child('variableList').list('identifierList')) {
        const name = variable.text('idString');
        const [key, place] = [name.toLowerCase(), placeIn(variable, source)];
        if (declared.has(key)) {
          const first = declared.get(key);
          const more = first === undefined ? '' : `; ${name} previously declared here at ${first}`;
          throw invalidQuery(`Variable '${name}' redeclaration at ${place}${more}`);
        }
        declared.set(key, place);
      }
      continue;
    }
    mayDeclare = false;
    if (node.kind === 'astBeginEndBlockNode') {
      checkDeclarations(node.maybe('statementListNode'), source, {
        before: declared,
        isBlock: true,
      });
    }
    // A handler sees no variables of its block.
    for (const inner of innerLists(node)) {
      checkDeclarations(inner, source, { before: declared, isBlock: false });
    }
  }
}

/** Lists of statements that are no blocks: branches, and handlers of exceptions. */
function innerLists(node: ResolvedNode): (ResolvedNode | undefined)[] {
  const handlers = node.maybe('handlerList')?.list('exceptionHandlerList') ?? [];
  const more = node.maybe('elseifClauses')?.list('elseifClauses') ?? [];
  return [
    node.maybe('thenList'),
    node.maybe('elseList'),
    ...more.map((clause) => clause.maybe('body')),
    ...handlers.map((handler) => handler.maybe('statementList')),
  ];
}

function placeIn(node: ResolvedNode, source: Source): string {
  const { line, column } = pieceOf(node, source);
  return `[${line}:${column}]`;
}

const identifiers = (list: ResolvedNode): string[] =>
  list.list('identifierList').map((node) => node.text('idString'));

const maybePiece = (node: ResolvedNode | undefined, source: Source): Piece | undefined =>
  node === undefined ? undefined : pieceOf(node, source);

function pieceOf(node: ResolvedNode, source: Source): Piece {
  const { start, end } = node.range();
  const lines = source(0, start).split('\n');
  return {
    text: source(start, end),
    line: lines.length,
    column: (lines.at(-1) ?? '').length + 1,
  };
}
