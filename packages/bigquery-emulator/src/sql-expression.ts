import { notDone } from './api-error.ts';
import { columnName, type Emit } from './emit.ts';
import { aggregateSql } from './functions-aggregate.ts';
import { callSql } from './functions.ts';
import { kindName, type ResolvedNode } from './resolved-node.ts';
import { castSql } from './sql-cast.ts';
import { literalSql } from './sql-literal.ts';
import { isRaw } from './json-object.ts';
import type { BqType } from './types.ts';

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
      return parameterSql(emit, node);
    case 'resolvedConstantNode':
      return variableSql(emit, node);
    case 'resolvedSystemVariableNode':
      return emit.placeholder(
        { from: 'system', name: node.texts('namePath').join('.').toLowerCase() },
        node.type(),
      );
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
    case 'resolvedGetStructFieldNode': {
      const field = `f${node.number('fieldIdx') + 1}`;
      return `struct_extract(${emit.expression(node.child('expr'))}, '${field}')`;
    }
    case 'resolvedGetJsonFieldNode': {
      const json = emit.expression(node.only('expr', 'fieldName').child('expr'));
      const path = `$.${JSON.stringify(node.text('fieldName'))}`.replaceAll("'", "''");
      return `CAST(json_extract(${json}, '${path}') AS VARCHAR)`;
    }
    case 'resolvedSubqueryExprNode':
      return subquerySql(emit, node);
    case 'resolvedDmldefaultNode':
    case 'resolvedDMLDefaultNode':
      return 'NULL';
    default:
      throw notDone(`the expression "${kindName(node)}"`);
  }
}

function parameterSql(emit: Emit, node: ResolvedNode): string {
  const name = node.text('name');
  const source =
    name === ''
      ? ({ from: 'positional', position: node.number('position') } as const)
      : ({ from: 'named', name: name.toLowerCase() } as const);
  return emit.placeholder(source, node.type());
}

function variableSql(emit: Emit, node: ResolvedNode): string {
  const name = node.child('constant').text('name').toLowerCase();
  return emit.placeholder({ from: 'variable', name }, node.type());
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
    // A date part is an enumeration: functions read it from its node.
    args: nodes.map((argument) => (isEnum(argument) ? '' : emit.expression(argument))),
    types: nodes.map((argument) => (isEnum(argument) ? DATE_PART : argument.type())),
    nodes,
    result: node.type(),
    isSafe: node.text('errorMode') === 'SAFE_ERROR_MODE',
    emit,
  });
}

const DATE_PART: BqType = { kind: 'STRING' };

function isEnum(node: ResolvedNode): boolean {
  const type = node.raw('type');
  return isRaw(type) && type['typeKind'] === 'TYPE_ENUM';
}

/** Such as `$equal` or `json_value`. */
export const functionName = (node: ResolvedNode): string =>
  node
    .child('function')
    .text('name')
    .replace(/^ZetaSQL:/, '');

function subquerySql(emit: Emit, node: ResolvedNode): string {
  node.only('subqueryType', 'parameterList', 'inExpr', 'subquery');
  const query = node.child('subquery');
  const inner = emit.scan(query);
  switch (node.text('subqueryType')) {
    case 'SCALAR':
      return `(${inner})`;
    case 'ARRAY':
      return `ARRAY(${inner})`;
    case 'EXISTS':
      return `EXISTS (${inner})`;
    case 'IN':
      return `(${emit.expression(node.child('inExpr'))} IN (${inner}))`;
    default:
      throw notDone(`subqueries of the kind ${node.text('subqueryType')}`);
  }
}
