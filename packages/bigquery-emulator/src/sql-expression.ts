import { notDone } from './api-error.ts';
import { columnName, type Emit } from './emit.ts';
import { aggregateSql } from './functions-aggregate.ts';
import { callSql } from './functions.ts';
import { functionName, kindName, type ResolvedNode } from './resolved-node.ts';
import { castSql } from './sql-cast.ts';
import { literalSql } from './sql-literal.ts';
import { isRaw } from './json-object.ts';

/** DuckDB's SQL for a resolved expression. */
export function expressionSql(emit: Emit, node: ResolvedNode): string {
  switch (node.kind) {
    case 'resolvedLiteralNode': {
      const value = node.raw('value');
      return literalSql(isRaw(value) ? value['value'] : undefined, node.type());
    }
    case 'resolvedColumnRefNode':
      return columnName(node.column().id);
    case 'resolvedParameterNode':
      return emit.placeholder(
        { from: 'named', name: node.text('name').toLowerCase() },
        node.type(),
      );
    case 'resolvedSystemVariableNode':
      return emit.placeholder({ from: 'rowCount' }, node.type());
    case 'resolvedCastNode':
      return writeCast(emit, node);
    case 'resolvedFunctionCallNode':
      return writeCall(emit, node);
    case 'resolvedAggregateFunctionCallNode':
      return aggregateSql(emit, node);
    case 'resolvedMakeStructNode': {
      const fields = node.only('fieldList').list('fieldList');
      const items = fields.map((field, index) => `f${index + 1} := ${emit.expression(field)}`);
      return `struct_pack(${items.join(', ')})`;
    }
    case 'resolvedSubqueryExprNode':
      return subquerySql(emit, node);
    default:
      throw notDone(`the expression "${kindName(node)}"`);
  }
}

function writeCast(emit: Emit, node: ResolvedNode): string {
  node.only('expr', 'returnNullOnError');
  const inner = node.child('expr');
  const isSafe = node.flag('returnNullOnError');
  return castSql(emit.expression(inner), inner.type(), node.type(), isSafe);
}

function writeCall(emit: Emit, node: ResolvedNode): string {
  node.only('function', 'signature', 'argumentList', 'errorMode', 'functionCallInfo');
  const nodes = node.list('argumentList');
  return callSql({
    name: functionName(node),
    args: nodes.map((argument) => emit.expression(argument)),
    nodes,
    result: node.type(),
  });
}

function subquerySql(emit: Emit, node: ResolvedNode): string {
  node.only('subqueryType', 'parameterList', 'inExpr', 'subquery');
  const query = node.child('subquery');
  const inner = emit.scan(query);
  switch (node.text('subqueryType')) {
    case 'SCALAR':
      return `(${inner})`;
    case 'EXISTS':
      return `EXISTS (${inner})`;
    case 'IN':
      return `(${emit.expression(node.child('inExpr'))} IN (${inner}))`;
    default:
      throw notDone(`subqueries of the kind ${node.text('subqueryType')}`);
  }
}
