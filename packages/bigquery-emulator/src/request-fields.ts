import { invalid, notDone } from './api-error.ts';
import { isRaw, type Raw } from './json-object.ts';

/*
 * The fields that Google knows in the bodies of requests, as its discovery document lists them. What is in a body and is not done
 * is never left out silently.
 */

/** What may be in one object of a body. */
export interface Message {
  /** What has such fields, as it is refused: "tables with …". */
  readonly what: string;
  /** Read by the methods; or without effect, as README.md lists it; or of answers only, which Google ignores in requests. */
  readonly taken: ReadonlySet<string>;
  readonly undone: ReadonlySet<string>;
  /** Objects, and lists of objects, that have fields of their own. */
  readonly parts: Readonly<Record<string, () => Message>>;
  /** Of a map: what any member is. */
  readonly members?: () => Message;
}

/** Throws for a field that Google does not know, or that is not done. `at`: where the object is, in Google's words. */
export function checkFields(raw: Raw, message: Message, at: string): void {
  const problems = [...problemsOf(raw, message, at)];
  const unknown = problems.filter(({ isUnknown }) => isUnknown);
  if (unknown.length > 0) throw invalid(unknown.map(({ text }) => text).join('\n'));
  const [first] = problems;
  if (first !== undefined) throw notDone(first.text);
}

interface Problem {
  readonly isUnknown: boolean;
  readonly text: string;
}

function* problemsOf(raw: Raw, message: Message, at: string): Generator<Problem> {
  const { what, taken, undone, parts, members } = message;
  for (const [field, value] of Object.entries(raw)) {
    if (taken.has(field)) continue;
    const part = members ?? (Object.hasOwn(parts, field) ? parts[field] : undefined);
    if (part !== undefined) {
      yield* problemsWithin(
        value,
        part(),
        [...(at === '' ? [] : [at]), protoName(field)].join('.'),
      );
    } else if (undone.has(field)) {
      yield { isUnknown: false, text: `${what} with ${field}` };
    } else {
      const place = at === '' ? '' : ` at '${at}'`;
      const text = `Invalid JSON payload received. Unknown name "${field}"${place}: Cannot find field.`;
      yield { isUnknown: true, text };
    }
  }
}

/** Of another kind of value the methods tell. */
function* problemsWithin(value: unknown, message: Message, at: string): Generator<Problem> {
  if (isRaw(value)) yield* problemsOf(value, message, at);
  if (!Array.isArray(value)) return;
  for (const [index, item] of value.entries()) {
    if (isRaw(item)) yield* problemsOf(item, message, `${at}[${index}]`);
  }
}

/** Google tells places by the names that its fields have inside: `time_partitioning`. */
const protoName = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const words = (text = ''): ReadonlySet<string> =>
  new Set(text.split(/\s+/).filter((word) => word !== ''));

const message = (
  what: string,
  {
    done,
    ignored = '',
    undone,
  }: { readonly done: string; readonly ignored?: string; readonly undone?: string },
  parts: Message['parts'] = {},
): Message => ({ what, taken: words(`${done} ${ignored}`), undone: words(undone), parts });

const TABLE_REFERENCE = message('tables', { done: 'projectId datasetId tableId' });
const DATASET_REFERENCE = message('datasets', { done: 'projectId datasetId' });

const FIELD: Message = message(
  'columns',
  {
    done: 'name type mode description',
    undone: `categories collation dataGovernanceTagsInfo dataPolicies dataPolicyList defaultValueExpression foreignTypeDefinition
      generatedColumn maxLength policyTags precision rangeElementType roundingMode scale timestampPrecision`,
  },
  { fields: () => FIELD },
);
const SCHEMA = message('schemas', { done: '', undone: 'foreignTypeInfo' }, { fields: () => FIELD });
const TIME_PARTITIONING = message('partitions', {
  done: 'type field requirePartitionFilter expirationMs',
});
const CLUSTERING = message('clusters', { done: 'fields' });
const VIEW = message('views', {
  done: 'query useLegacySql',
  undone: 'foreignDefinitions privacyPolicy useExplicitColumnNames userDefinedFunctionResources',
});

/** Of `tables.insert`, `patch` and `update`. */
export const TABLE = message(
  'tables',
  {
    done: 'description friendlyName labels requirePartitionFilter',
    ignored: `kind cloneDefinition creationTime etag id lastModifiedTime location materializedViewStatus numActiveLogicalBytes
      numActivePhysicalBytes numBytes numCurrentPhysicalBytes numLongTermBytes numLongTermLogicalBytes numLongTermPhysicalBytes numPartitions
      numPhysicalBytes numRows numTimeTravelPhysicalBytes numTotalLogicalBytes numTotalPhysicalBytes replicas restrictions selfLink
      snapshotDefinition streamingBuffer type`,
    undone: `biglakeConfiguration defaultCollation defaultRoundingMode encryptionConfiguration expirationTime externalCatalogTableOptions
      externalDataConfiguration managedTableType materializedView maxStaleness model partitionDefinition rangePartitioning resourceTags
      tableConstraints tableReplicationInfo`,
  },
  {
    tableReference: () => TABLE_REFERENCE,
    schema: () => SCHEMA,
    timePartitioning: () => TIME_PARTITIONING,
    clustering: () => CLUSTERING,
    view: () => VIEW,
  },
);

/** Of `datasets.insert`, `patch` and `update`. */
export const DATASET = message(
  'datasets',
  {
    done: 'description friendlyName labels location maxTimeTravelHours storageBillingModel',
    ignored: `catalogSource creationTime etag id kind lastModifiedTime linkedDatasetMetadata restrictions satisfiesPzi satisfiesPzs
      selfLink tags type`,
    undone: `access defaultCollation defaultEncryptionConfiguration defaultPartitionExpirationMs defaultRoundingMode
      defaultTableExpirationMs externalCatalogDatasetOptions externalDatasetReference isCaseInsensitive linkedDatasetSource resourceTags`,
  },
  { datasetReference: () => DATASET_REFERENCE },
);

const PARAMETER_TYPE: Message = message(
  'parameters',
  { done: 'type', undone: 'rangeElementType timestampPrecision' },
  {
    arrayType: () => PARAMETER_TYPE,
    structTypes: () =>
      message('parameters', { done: 'name description' }, { type: () => PARAMETER_TYPE }),
  },
);
const PARAMETER_VALUE: Message = message(
  'parameters',
  { done: 'value', undone: 'rangeValue' },
  {
    arrayValues: () => PARAMETER_VALUE,
    structValues: () => ({
      ...message('parameters', { done: '' }),
      members: () => PARAMETER_VALUE,
    }),
  },
);
const QUERY_PARTS: Message['parts'] = {
  queryParameters: () =>
    message(
      'parameters',
      { done: 'name' },
      { parameterType: () => PARAMETER_TYPE, parameterValue: () => PARAMETER_VALUE },
    ),
  defaultDataset: () => DATASET_REFERENCE,
  connectionProperties: () => message('connection properties', { done: 'key value' }),
};

/** Of `jobs.query`. */
export const QUERY_REQUEST = message(
  'jobs',
  {
    done: `query useLegacySql parameterMode dryRun maxResults timeoutMs location labels requestId maximumBytesBilled createSession`,
    ignored: 'kind useQueryCache preserveNulls jobTimeoutMs jobCreationMode',
    undone: `arrowSerializationOptions continuous destinationEncryptionConfiguration maxSlots queryResultsFormat reservation secureContext
      writeIncrementalResults`,
  },
  {
    ...QUERY_PARTS,
    formatOptions: () =>
      message('formats', { done: 'useInt64Timestamp', undone: 'timestampOutputFormat' }),
  },
);

const QUERY_CONFIGURATION = message(
  'jobs',
  {
    done: 'query useLegacySql parameterMode maximumBytesBilled createSession',
    ignored: 'useQueryCache preserveNulls priority systemVariables',
    undone: `allowLargeResults clustering continuous createDisposition destinationEncryptionConfiguration destinationTable flattenResults
      maximumBillingTier rangePartitioning schemaUpdateOptions scriptOptions secureContext tableDefinitions timePartitioning
      userDefinedFunctionResources writeDisposition writeIncrementalResults`,
  },
  QUERY_PARTS,
);
const CONFIGURATION = message(
  'jobs',
  {
    done: 'dryRun labels load copy extract',
    ignored: 'jobType jobTimeoutMs',
    undone: 'maxSlots reservation',
  },
  { query: () => QUERY_CONFIGURATION },
);

/** Of `jobs.insert`. */
export const JOB = message(
  'jobs',
  {
    done: '',
    ignored:
      'etag id jobCreationReason kind principal_subject selfLink statistics status user_email',
  },
  {
    configuration: () => CONFIGURATION,
    jobReference: () => message('jobs', { done: 'projectId jobId location' }),
  },
);
