import { entityNotFound } from './api-error.ts';
import type { Account } from './accounts.ts';
import { Document } from './document.ts';
import type { Edit } from './edit.ts';
import type { Caller } from './protection.ts';
import { Sheet } from './sheet.ts';

/** Properties of a new spreadsheet; each has a default. */
export interface SpreadsheetOptions {
  readonly title?: string;
  /** IANA name; `Etc/GMT`, as in Google's own default. */
  readonly timeZone?: string;
  readonly owner?: string;
  /** The first tab; `Sheet1` with 1,000 rows and 26 columns by default. */
  readonly tab?: { readonly title?: string; readonly rows?: number; readonly columns?: number };
}

/** One file: its contents, and who may edit its protected cells. */
export interface SpreadsheetFile {
  readonly id: string;
  readonly owner: string;
  document: Document;
}

/** The owner of files without another owner. */
const DEFAULT_OWNER = 'owner@example.com';

/** All files of the emulator. */
export class SpreadsheetFiles {
  readonly #files = new Map<string, SpreadsheetFile>();
  readonly #formats: Edit['formats'] = new Map();
  readonly #now: () => number;
  #lastId = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A new file with one tab. IDs are as long as Google's and the same in every run. */
  create(options: SpreadsheetOptions): SpreadsheetFile {
    const id = `1${String(this.nextId()).padStart(10, '0')}`.padEnd(44, 'emulated-sheet-');
    const document = new Document({
      title: options.title ?? 'Untitled spreadsheet',
      locale: 'en_US',
      timeZone: options.timeZone ?? 'Etc/GMT',
    });
    const { title = 'Sheet1', rows = 1_000, columns = 26 } = options.tab ?? {};
    document.sheets = [new Sheet(0, { title }, rows, columns)];
    const file: SpreadsheetFile = {
      id,
      owner: options.owner ?? DEFAULT_OWNER,
      document,
    };
    this.#files.set(id, file);
    return file;
  }

  /** The file as its owner sees it. Throws the 404. */
  get(id: string): SpreadsheetFile {
    const file = this.#files.get(id);
    if (file === undefined) throw entityNotFound();
    return file;
  }

  /** All files, oldest first. */
  list(): SpreadsheetFile[] {
    return [...this.#files.values()];
  }

  /** The file, and the account as its protections see it. Throws Google's 404. */
  open(id: string, { email }: Account): { file: SpreadsheetFile; caller: Caller } {
    const file = this.get(id);
    return { file, caller: { email, isOwner: email.toLowerCase() === file.owner.toLowerCase() } };
  }

  /** Runs a change on a copy of the contents and keeps the copy only if nothing was thrown. */
  change<T>(file: SpreadsheetFile, caller: Caller, action: (edit: Edit) => T): T {
    const document = file.document.fork();
    const edit: Edit = {
      document,
      caller,
      nowMs: this.#now(),
      formats: this.#formats,
      nextId: () => this.nextId(),
    };
    const result = action(edit);
    file.document = document;
    return result;
  }

  /** Scattered over 31 bits like Google's, but the same in every run. */
  nextId(): number {
    this.#lastId++;
    return Number((BigInt(this.#lastId) * 1_103_515_245n + 12_345n) % 2_147_483_647n);
  }
}
