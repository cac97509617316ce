import type { Raw } from './json-object.ts';

/** The features of Google's SQL that statements of the target need. The analyzer refuses what needs others, of which BigQuery has many. */
const FEATURES: readonly string[] = [
  'ANALYTIC_FUNCTIONS',
  'CREATE_TABLE_PARTITION_BY',
  'CREATE_TABLE_CLUSTER_BY',
  'CREATE_TABLE_NOT_NULL',
  'CREATE_TABLE_FIELD_ANNOTATIONS',
  'JSON_ARRAY_FUNCTIONS',
  'JSON_VALUE_EXTRACTION_FUNCTIONS',
  'V_1_3_OMIT_INSERT_COLUMN_LIST',
  'V_1_3_IS_DISTINCT',
];

const STATEMENTS: readonly string[] = [
  'QUERY',
  'INSERT',
  'UPDATE',
  'DELETE',
  'MERGE',
  'CREATE_TABLE',
  'CREATE_VIEW',
  'ALTER_TABLE',
  'DROP',
  'BEGIN',
  'COMMIT',
  'ROLLBACK',
  'ASSERT',
];

/** How the analyzer is to read SQL: as BigQuery does. */
export const LANGUAGE: Raw = {
  nameResolutionMode: 'NAME_RESOLUTION_DEFAULT',
  productMode: 'PRODUCT_EXTERNAL',
  enabledLanguageFeatures: FEATURES.map((name) => `FEATURE_${name}`),
  supportedStatementKinds: STATEMENTS.map((name) => `RESOLVED_${name}_STMT`),
};
