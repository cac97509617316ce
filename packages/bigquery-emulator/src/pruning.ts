import { fullName, type Table } from './catalog.ts';
import { isRaw, objectAt, textAt } from './json-object.ts';
import { functionName, type ResolvedNode } from './resolved-node.ts';
import type { Prepared } from './statement.ts';

/** One reading of a table by a statement. */
export interface Read {
  /** The table's full name. */
  readonly name: string;
  readonly columns: readonly string[];
  /** True if the statement may rewrite rows, and so is billed for whole rows. */
  readonly isRewritten: boolean;
  /** False for partitions that literals exclude; undefined is for rows without a date. */
  readonly keeps: (range: Range | undefined) => boolean;
}

/** Times in microseconds, without the end. */
export interface Range {
  readonly start: bigint;
  readonly end: bigint;
}

type Test = (range: Range | undefined) => boolean;

/** The reads of a statement, including the tables below its views. */
export function readsOf({ node, names }: Prepared): Read[] {
  const reads: Read[] = [];
  for (const root of [{ node, names }, ...names.beneath]) {
    walk(root.node, [], (scan, conditions) => {
      const table = root.names.local.get(scan.child('table').text('fullName'));
      if (table?.kind !== 'TABLE') return;
      reads.push({
        name: fullName(table),
        columns: scan.columns().map((column) => column.name),
        isRewritten: root.node === node && isRewritten(node, scan),
        keeps: keeper(table, scan, conditions),
      });
    });
  }
  return reads;
}

function isRewritten(node: ResolvedNode, scan: ResolvedNode): boolean {
  if (!/^resolved(Update|Delete|Merge)StmtNode$/.test(node.kind)) return false;
  if (node.kind === 'resolvedMergeStmtNode') {
    const actions = node.list('whenClauseList').map((when) => when.text('actionType'));
    if (actions.every((action) => action === 'INSERT' || action === '')) return false;
  }
  const target = node.child('tableScan');
  return scan.child('table').text('fullName') === target.child('table').text('fullName');
}

/** Visits every table scan with the conditions on its rows. */
function walk(
  node: ResolvedNode,
  conditions: readonly ResolvedNode[],
  visit: (scan: ResolvedNode, conditions: readonly ResolvedNode[]) => void,
): void {
  if (node.kind === 'resolvedTableScanNode') {
    visit(node, conditions);
    return;
  }
  for (const [field, child] of node.children()) {
    const isTable = field === 'tableScan' && child.kind === '';
    const met = [...conditions, ...conditionsFor(node, field)];
    if (isTable) visit(child, met);
    else walk(child, met, visit);
  }
}

/** The conditions of a node on the rows of one of its inputs. */
function conditionsFor(node: ResolvedNode, field: string): ResolvedNode[] {
  const at = (name: string): ResolvedNode[] => {
    const condition = node.maybe(name);
    return condition === undefined ? [] : [condition];
  };
  switch (node.kind) {
    case 'resolvedFilterScanNode':
      return field === 'inputScan' ? at('filterExpr') : [];
    case 'resolvedUpdateStmtNode':
    case 'resolvedDeleteStmtNode':
      return field === 'tableScan' ? at('whereExpr') : [];
    case 'resolvedMergeStmtNode':
      return field === 'tableScan' ? at('mergeExpr') : [];
    case 'resolvedJoinScanNode': {
      const type = node.text('joinType') || 'INNER';
      const isFree = type === 'INNER' || type === (field === 'leftScan' ? 'RIGHT' : 'LEFT');
      return isFree && field.endsWith('Scan') ? at('joinExpr') : [];
    }
    default:
      return [];
  }
}

function keeper(table: Table, scan: ResolvedNode, conditions: readonly ResolvedNode[]): Test {
  const field = table.partitionedBy?.toLowerCase();
  const column = scan.columns().find(({ name }) => name.toLowerCase() === field);
  if (column === undefined) return ALWAYS;
  const tests = conditions.map((condition) => testOf(condition, column.id));
  return (range) => tests.every((test) => test(range));
}

const ALWAYS: Test = () => true;

/** Whether a partition may have rows that satisfy a condition; an unsupported condition excludes nothing. */
function testOf(node: ResolvedNode, column: number): Test {
  if (node.kind !== 'resolvedFunctionCallNode') return ALWAYS;
  const args = node.list('argumentList');
  const name = functionName(node);
  if (name === '$and' || name === '$or') {
    const tests = args.map((argument) => testOf(argument, column));
    return name === '$and'
      ? (range) => tests.every((test) => test(range))
      : (range) => tests.some((test) => test(range));
  }
  const [first, second] = args;
  if (first === undefined) return ALWAYS;
  if (name === '$is_null') return isColumn(first, column) ? (range) => range === undefined : ALWAYS;
  const at = isColumn(first, column) ? moment(second) : undefined;
  return at === undefined || !COMPARISONS.has(name) ? ALWAYS : (range) => holds(range, name, at);
}

const COMPARISONS = new Set(['$less', '$less_or_equal', '$greater', '$greater_or_equal']);

/** A comparison with NULL is never true. */
function holds(range: Range | undefined, name: string, at: bigint): boolean {
  if (range === undefined) return false;
  if (name === '$less') return range.start < at;
  if (name === '$less_or_equal') return range.start <= at;
  return range.end > at;
}

const isColumn = (node: ResolvedNode, column: number): boolean =>
  node.kind === 'resolvedColumnRefNode' && node.column().id === column;

/** The microseconds of a literal; undefined for anything else. */
function moment(node: ResolvedNode | undefined): bigint | undefined {
  if (node?.kind !== 'resolvedLiteralNode') return undefined;
  const typed = node.raw('value');
  const value = isRaw(typed) ? objectAt(typed, 'value') : undefined;
  if (value === undefined) return undefined;
  const at = objectAt(value, 'timestampValue');
  if (at === undefined) return undefined;
  return (
    BigInt(textAt(at, 'seconds') ?? '0') * 1_000_000n + BigInt(textAt(at, 'nanos') ?? '0') / 1_000n
  );
}
