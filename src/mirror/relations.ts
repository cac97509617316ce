/** A column of a {@link Relation}. */
export interface RelationColumn {
  readonly name: string;
  /** What it holds: the label of a field, or a sentence about a column of ours. */
  readonly description: string;
  /** No two rows have the same value. */
  readonly isUnique: boolean;
  /** Every row has a value. */
  readonly isRequired: boolean;
}

/** A table or view of ours in a database. */
export interface Relation {
  readonly name: string;
  readonly description: string;
  /** The columns that other tools are told about; none for a view whose columns are those of its table. */
  readonly columns: readonly RelationColumn[];
  /** A query for the time of the last comparison of the form's rows with the source; null where there is no such time. */
  readonly comparedAt: string | null;
}

/** What tools that read a SQL target have to know of it. */
export interface TargetRelations {
  /** The database; null where a connection has only one. */
  readonly database: string | null;
  readonly schema: string;
  /** Forms with their views first, then the tables that tell about the mirror. */
  readonly relations: readonly Relation[];
}
