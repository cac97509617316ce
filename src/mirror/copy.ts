import type { LookRecord } from './look-record.ts';
import type { FormReader, FormWriter, Target, WriterOptions } from './target.ts';
import type { FormIdentity } from './types.ts';

/*
 * The part of a target that commands, page and health use, for both cores.
 */

/** Reads a form of a target. */
export type CopyReader = Pick<
  FormReader,
  | 'checkpoint'
  | 'windows'
  | 'fields'
  | 'rows'
  | 'liveIds'
  | 'deletedIds'
  | 'rejections'
  | 'refusals'
  | 'forgotten'
  | 'traces'
  | 'countDeleted'
  | 'countFilled'
  | 'passes'
>;

/** A form of a target, open for what commands change in it, and for the end of a write-back. Dispose to release it. */
export interface CopyWriter
  extends
    AsyncDisposable,
    Pick<FormWriter, 'rows' | 'forget' | 'remember' | 'purgeDeleted' | 'emptyFields'> {}

export interface Copy extends Omit<Target, 'reader' | 'openWriter' | 'lastLook' | 'recordLook'> {
  reader(formId: string): Promise<CopyReader | undefined>;
  openWriter(form: FormIdentity, options: WriterOptions): Promise<CopyWriter>;
  /** When the workspace was last found to have what the target accounts for; null before the first time. */
  lastLook(): Promise<Pick<LookRecord, 'at'> | null>;
}
