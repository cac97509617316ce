import { notDone } from './api-error.ts';
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

/** The steps of a parsed script. Loops, procedures and the like are refused by name. */
export function scriptSteps(script: ResolvedNode, { text, restore }: Aliased): Step[] {
  const bytes = Buffer.from(text);
  const source: Source = (start, end) => restore(bytes.subarray(start, end).toString('utf8'));
  return stepsOf(script.child('statementListNode'), source);
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
