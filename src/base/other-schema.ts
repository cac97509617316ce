import { MirrorError, safeText } from './errors.ts';

/** A store of another schema, as {@link otherSchema} describes it. */
export interface OtherSchema {
  /** The store, as a sentence begins with it. */
  readonly store: string;
  /** The schema as read. */
  readonly found: unknown;
  /** The schema that this build writes. */
  readonly needed: number;
  /** Half a sentence: where the mirror could go. */
  readonly elsewhere?: string;
}

/**
 * The error for a store that another build wrote. There is one schema and no step from any other, so nothing in such a
 * store is read further or changed.
 */
export function otherSchema({
  store,
  found,
  needed,
  elsewhere = 'choose another place',
}: OtherSchema): MirrorError {
  const schema =
    found === undefined || found === null
      ? 'no schema'
      : `schema ${safeText(typeof found === 'string' ? found : JSON.stringify(found), 20)}`;
  return new MirrorError(
    'OTHER_SCHEMA',
    `${store} was written by another build of forms-mirror (${schema}, this one needs ${needed}). Nothing in it was changed. ` +
      `Delete it, or ${elsewhere}, and run again.`,
  );
}
