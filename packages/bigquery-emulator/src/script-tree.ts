import { notDone } from './api-error.ts';
import type { ResolvedNode } from './resolved-node.ts';

/** One statement of a script. */
export interface Step {
  /** Its text. */
  readonly text: string;
  /** Its effect on transactions. */
  readonly control: 'begin' | 'commit' | 'rollback' | undefined;
}

const CONTROLS: Readonly<Record<string, Step['control']>> = {
  astBeginStatementNode: 'begin',
  astCommitStatementNode: 'commit',
  astRollbackStatementNode: 'rollback',
};

/** Nodes with statements, variables or effects on the script itself. */
const SCRIPTING =
  /Variable|Assignment|BeginEndBlock|IfStatement|Raise|While|Loop|Repeat|ForIn|CaseStatement|Call|ExecuteImmediate|Return|Break|Continue/;

/** The statements of a parsed script. Variables, blocks, loops and the like are refused by name. */
export function scriptSteps(script: ResolvedNode, text: string): Step[] {
  const bytes = Buffer.from(text);
  return script
    .child('statementListNode')
    .list('statementList')
    .map((node) => {
      if (SCRIPTING.test(node.kind))
        throw notDone(`the script statement ${node.kind.replace(/^ast|(Statement)?Node$/g, '')}`);
      const { start, end } = node.range();
      return {
        text: bytes.subarray(start, end).toString('utf8'),
        control: CONTROLS[node.kind],
      };
    });
}
