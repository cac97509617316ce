import { invalidQuery, type ApiError } from './api-error.ts';
import { functionName, type ResolvedNode } from './resolved-node.ts';

/**
 * A subquery over a table that uses the outer row must become a join, which BigQuery cannot do for each of them. Known cases are
 * refused: a LIMIT, and conditions without one that could be the equality of a join. Uncertain cases are accepted.
 */

/** Throws for a subquery that BigQuery does not run. */
export function checkCorrelated(node: ResolvedNode, around = ''): void {
  if (node.kind === 'resolvedSubqueryExprNode' && node.list('parameterList').length > 0) {
    const refused = refusalOf(node, around);
    if (refused !== undefined) throw refused;
  }
  const name = node.kind === 'resolvedFunctionCallNode' ? functionName(node) : '';
  for (const [, child] of node.children()) checkCorrelated(child, name);
}

function refusalOf(node: ResolvedNode, around: string): ApiError | undefined {
  const scans = [...scansOf(node.child('subquery'))];
  if (!scans.some(isTable)) return undefined;
  const kind = node.text('subqueryType');
  const limits = scans.filter((scan) => scan.kind === 'resolvedLimitOffsetScanNode');
  if ((kind === 'SCALAR' || kind === 'ARRAY') && limits.some(cutsRows)) return notDecorrelated();
  if (kind !== 'IN' && !mayBeJoined(scans)) {
    if (kind === 'ARRAY') return notDecorrelated();
    const join = kind === 'SCALAR' ? 'OUTER' : around === '$not' ? 'ANTISEMI' : 'SEMI';
    return invalidQuery(
      `LEFT ${join} JOIN cannot be used without a condition that is an equality of fields from both sides of the join.`,
    );
  }
  return undefined;
}

const notDecorrelated = (): ApiError =>
  invalidQuery(
    'Correlated subqueries that reference other tables are not supported unless they can be de-correlated, such as by transforming them into an efficient JOIN.',
  );

const isTable = (scan: ResolvedNode): boolean => scan.kind === 'resolvedTableScanNode';

/** The scan and the scans from which its rows come. Subqueries in its expressions are separate subqueries. */
function* scansOf(scan: ResolvedNode): Generator<ResolvedNode> {
  yield scan;
  for (const [field, child] of scan.children()) {
    if (/^(input|left|right)Scan$/.test(field) || field === 'query') yield* scansOf(child);
    if (field === 'inputItemList') yield* scansOf(child.child('scan'));
  }
}

/**
 * True for a LIMIT of table rows that the outer row selects. A single row that counts others exists once in any case.
 */
function cutsRows(limit: ResolvedNode): boolean {
  const scans = [...scansOf(limit.child('inputScan'))];
  const isOne = scans.some(
    (scan) => scan.kind === 'resolvedAggregateScanNode' && scan.list('groupByList').length === 0,
  );
  return !isOne && scans.some(isTable) && scans.some((scan) => conditionsOf(scan).some(isLink));
}

/** True unless all conditions that link the subquery to the outer row compare by something other than equality. */
function mayBeJoined(scans: readonly ResolvedNode[]): boolean {
  const links = scans.flatMap((scan) => {
    const isOfGroups = [...scansOf(scan)].some(({ kind }) => kind === 'resolvedAggregateScanNode');
    return conditionsOf(scan).map((condition) => ({ condition, isOfGroups }));
  });
  const linking = links.filter(({ condition }) => isLink(condition));
  return (
    linking.length === 0 ||
    linking.some(({ condition, isOfGroups }) => isOfGroups || holdsEquality(condition))
  );
}

/** The conditions on each row. */
function conditionsOf(scan: ResolvedNode): ResolvedNode[] {
  const field = scan.kind === 'resolvedFilterScanNode' ? 'filterExpr' : 'joinExpr';
  const condition = scan.maybe(field);
  return condition === undefined ? [] : conjuncts(condition);
}

const conjuncts = (node: ResolvedNode): ResolvedNode[] =>
  node.kind === 'resolvedFunctionCallNode' && functionName(node) === '$and'
    ? node.list('argumentList').flatMap(conjuncts)
    : [node];

/** True for a comparison of the outer row with a row of the subquery. */
function isLink(condition: ResolvedNode): boolean {
  const columns = [...nodesOf(condition)].filter(({ kind }) => kind === 'resolvedColumnRefNode');
  return (
    columns.some((column) => column.flag('isCorrelated')) &&
    columns.some((column) => !column.flag('isCorrelated'))
  );
}

const EQUALITIES = new Set(['$equal', '$in', '$in_array', '$is_not_distinct_from']);

const holdsEquality = (condition: ResolvedNode): boolean =>
  [...nodesOf(condition)].some(
    (node) =>
      node.kind === 'resolvedSubqueryExprNode' ||
      (node.kind === 'resolvedFunctionCallNode' && EQUALITIES.has(functionName(node))),
  );

function* nodesOf(node: ResolvedNode): Generator<ResolvedNode> {
  yield node;
  for (const [, child] of node.children()) yield* nodesOf(child);
}
