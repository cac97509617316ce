import type { Raw } from './json-object.ts';

/**
 * The features of Google's SQL that the target's statements need. The analyzer refuses statements that need other features; BigQuery has
 * many more.
 */
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

/** The analyzer's options for SQL: those of BigQuery. */
export const LANGUAGE: Raw = {
  nameResolutionMode: 'NAME_RESOLUTION_DEFAULT',
  productMode: 'PRODUCT_EXTERNAL',
  enabledLanguageFeatures: FEATURES.map((name) => `FEATURE_${name}`),
  supportedStatementKinds: STATEMENTS.map((name) => `RESOLVED_${name}_STMT`),
};
