import type { Account } from './accounts.ts';
import type { Mask } from './field-mask.ts';
import type { SpreadsheetFiles } from './spreadsheet-files.ts';

/** One request to one method, read and authenticated. */
export interface Call {
  readonly files: SpreadsheetFiles;
  readonly account: Account;
  readonly nowMs: number;
  readonly spreadsheetId: string;
  /** The rest of the address: a range, a metadata ID, a sheet ID. */
  readonly resource: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** The `fields` parameter, in terms of the answer. */
  readonly mask: Mask | undefined;
  /** Receives the request-log entry. */
  note(notes: { ranges?: readonly string[]; requestKinds?: readonly string[] }): void;
}

/** A method of the API. */
export interface Method {
  /** Google's name for it, without the leading `sheets.`. */
  readonly name: string;
  /** What its quota counts. */
  readonly kind: 'read' | 'write';
  /** The message that its body must fit. */
  readonly body?: string;
  /** The message it answers with. */
  readonly answer: string;
  /** True when {@link run} applies the field mask itself, because it leaves out work that way. */
  readonly masksItself?: true;
  run(call: Call): object;
}

/** A boolean parameter: `true` in any case. */
export const flag = (query: URLSearchParams, name: string): boolean =>
  query.get(name)?.toLowerCase() === 'true';
