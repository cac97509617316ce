import { invalidQuery, notDone } from './api-error.ts';
import type { Column, TimePartitioning } from './catalog.ts';
import { constantText, datePart } from './function-call.ts';
import { isRaw, objectAt, objectsAt, textAt } from './json-object.ts';
import { checkedLabels } from './labels.ts';
import type { ResolvedNode } from './resolved-node.ts';
import { functionName } from './sql-expression.ts';
import { columnFor } from './table-schema.ts';

/** What OPTIONS(…) says; NULL takes an option away. */
export interface Options {
  readonly description?: string | undefined;
  readonly friendlyName?: string | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly requirePartitionFilter?: boolean;
}

/** Reads an option list; an option that is not done is refused by its name. */
export function optionsOf(nodes: readonly ResolvedNode[]): Options {
  const options: { -readonly [Key in keyof Options]: Options[Key] } = {};
  for (const node of nodes) {
    const name = node.text('name').toLowerCase();
    const value = node.child('value');
    if (name === 'description') options.description = constantText(value);
    else if (name === 'friendly_name') options.friendlyName = constantText(value);
    else if (name === 'labels') options.labels = checkedLabels(labelsOf(value));
    else if (name === 'require_partition_filter') options.requirePartitionFilter = isTrue(value);
    else throw notDone(`the option ${name}`);
  }
  return options;
}

/** The literal of a node as the analyzer gave it. */
function literal(node: ResolvedNode): Readonly<Record<string, unknown>> {
  const typed = node.raw('value');
  const value = isRaw(typed) ? typed['value'] : undefined;
  return isRaw(value) ? value : {};
}

const isTrue = (node: ResolvedNode): boolean => literal(node)['boolValue'] === true;

/** `[("key", "value"), …]`. */
function labelsOf(node: ResolvedNode): Record<string, string> {
  const entries = objectsAt(objectAt(literal(node), 'arrayValue') ?? {}, 'element').map((pair) => {
    const [key, value] = objectsAt(objectAt(pair, 'structValue') ?? {}, 'field');
    return [textAt(key ?? {}, 'stringValue') ?? '', textAt(value ?? {}, 'stringValue') ?? ''];
  });
  const labels = Object.fromEntries(entries);
  if (Object.keys(labels).length < entries.length) throw invalidQuery('Duplicate label keys');
  return labels;
}

/** A column as CREATE TABLE or ADD COLUMN defines it. */
export function definedColumn(node: ResolvedNode): Column {
  node.only('name', 'annotations', 'column', 'type');
  const annotations = node.maybe('annotations');
  annotations?.only('notNull', 'optionList', 'childList');
  const options = optionsOf(annotations?.list('optionList') ?? []);
  const field = { name: node.text('name'), type: node.type() };
  return columnFor(field, annotations?.flag('notNull') ?? false, options.description);
}

const UNFIT_PARTITION =
  'PARTITION BY expression must be DATE(<timestamp_column>), DATE(<datetime_column>), DATETIME_TRUNC(<datetime_column>, DAY/HOUR/MONTH/YEAR), a DATE column, TIMESTAMP_TRUNC(<timestamp_column>, DAY/HOUR/MONTH/YEAR), DATE_TRUNC(<date_column>, MONTH/YEAR), or RANGE_BUCKET(<int64_column>, GENERATE_ARRAY(<int64_value>, <int64_value>[, <int64_value>]))';

/** PARTITION BY: a DATE column, or TIMESTAMP_TRUNC and its like of a column. */
export function partitioningOf(
  node: ResolvedNode | undefined,
  requireFilter: boolean,
): TimePartitioning | undefined {
  if (node === undefined) return undefined;
  if (node.kind === 'resolvedColumnRefNode') {
    const { name, type } = node.column();
    if (type.kind !== 'DATE') {
      throw invalidQuery(UNFIT_PARTITION);
    }
    return { type: 'DAY', field: name, requireFilter };
  }
  const isField = ({ kind }: ResolvedNode): boolean => kind === 'resolvedGetStructFieldNode';
  if (isField(node)) throw invalidQuery(UNFIT_PARTITION);
  if (node.kind !== 'resolvedFunctionCallNode') throw notDone('such a PARTITION BY');
  const name = functionName(node);
  const [column, part] = node.list('argumentList');
  if (column !== undefined && isField(column)) throw invalidQuery(UNFIT_PARTITION);
  if (column?.kind !== 'resolvedColumnRefNode') throw notDone('such a PARTITION BY');
  const field = column.column().name;
  if (name === 'date' || name === '$extract_date') return { type: 'DAY', field, requireFilter };
  if (!['timestamp_trunc', 'date_trunc', 'datetime_trunc'].includes(name)) {
    throw notDone(`PARTITION BY ${name.toUpperCase()}`);
  }
  const type = datePart(part);
  if (type !== 'HOUR' && type !== 'DAY' && type !== 'MONTH' && type !== 'YEAR') {
    throw invalidQuery(`PARTITION BY by ${type} is not supported`);
  }
  return { type, field, requireFilter };
}

/** CLUSTER BY: columns. */
export function clusteringOf(nodes: readonly ResolvedNode[]): string[] {
  return nodes.map((node) => {
    if (node.kind !== 'resolvedColumnRefNode') throw invalidQuery('CLUSTER BY takes columns only');
    return node.column().name;
  });
}
