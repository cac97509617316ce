import { REQUEST_KINDS } from '../../src/batch-update.ts';

/**
 * What one property of a message holds: a JSON type, the name of another message, a list `[of]`, a map `{map: of}`,
 * or `{enum: names}`.
 */
export type ShapeType = string | [ShapeType] | { map: ShapeType } | { enum: string[] };

/** Message name → property → what it holds. */
export type Shapes = Record<string, Record<string, ShapeType>>;

interface DiscoveryProperty {
  $ref?: string;
  type?: string;
  enum?: string[];
  items?: DiscoveryProperty;
  additionalProperties?: DiscoveryProperty;
}

/** The part of Google's discovery document that matters here. */
export interface Discovery {
  revision: string;
  schemas: Record<string, { properties?: Record<string, DiscoveryProperty> }>;
}

/** The messages that the emulator takes or gives; everything they refer to comes along. */
const ROOTS = [
  'BatchGetValuesByDataFilterRequest',
  'BatchGetValuesByDataFilterResponse',
  'BatchUpdateSpreadsheetRequest',
  'BatchUpdateSpreadsheetResponse',
  'Spreadsheet',
  'ValueRange',
];

/** Kept by name only (`any`): what the emulator does not hold, or keeps as it comes. */
const OPAQUE =
  /^Response$|(?:Bubble|Candlestick|Histogram|Org|Pie|Scorecard|Treemap|Waterfall)Chart|BasicChart(?:Axis|Domain|Series)|ChartGroupRule|Pivot|Slicer|DataSource|DataExecution|BigQuery|Looker|Person|RichLink|Chip|TextPosition|Border|FilterView|FilterSpec|FilterCriteria|Theme|Iterative|NamedRange|DimensionGroup|DataValidation|TextFormatRun|Padding|TextRotation|Gradient|RowsProperties|ColumnProperties|BandingProperties|Link|ErrorValue/;

function typeOf(property: DiscoveryProperty): ShapeType {
  if (property.$ref !== undefined) return OPAQUE.test(property.$ref) ? 'any' : property.$ref;
  if (property.enum !== undefined) return { enum: property.enum };
  if (property.items !== undefined) return [typeOf(property.items)];
  if (property.additionalProperties !== undefined)
    return { map: typeOf(property.additionalProperties) };
  return property.type ?? 'any';
}

function refsIn(type: ShapeType): string[] {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return refsIn(type[0]);
  return 'map' in type ? refsIn(type.map) : [];
}

/** The compact extract that `src/schema.json` holds. */
export function extractShapes(discovery: Discovery): Shapes {
  const shapes: Shapes = {};
  const queue = [...ROOTS];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const properties = discovery.schemas[name]?.properties;
    if (shapes[name] !== undefined || discovery.schemas[name] === undefined) continue;
    const shape: Record<string, ShapeType> = {};
    for (const [property, definition] of Object.entries(properties ?? {})) {
      const isOther = name === 'Request' && !REQUEST_KINDS.includes(property);
      shape[property] = isOther ? 'any' : typeOf(definition);
      queue.push(...refsIn(shape[property]));
    }
    shapes[name] = shape;
  }
  return Object.fromEntries(Object.entries(shapes).sort(([a], [b]) => (a < b ? -1 : 1)));
}
