import { callerDenied, entityNotFound } from './api-error.ts';
import type { Account } from './accounts.ts';
import { Document } from './document.ts';
import type { Edit } from './edit.ts';
import type { Caller } from './protection.ts';
import { Sheet } from './sheet.ts';

/** The role that a file is shared with. */
export type Role = 'writer' | 'reader';

/** Properties of a new spreadsheet; each has a default. */
export interface SpreadsheetOptions {
  readonly title?: string;
  /** IANA name; `Etc/GMT` like Google's own default. */
  readonly timeZone?: string;
  /** Who else may open it: address → role. */
  readonly shares?: Readonly<Record<string, Role>>;
  readonly owner?: string;
  /** The first tab; `Sheet1` with 1,000 rows and 26 columns by default. */
  readonly tab?: { readonly title?: string; readonly rows?: number; readonly columns?: number };
}

/** One file: its contents and who may do what. */
export interface SpreadsheetFile {
  readonly id: string;
  readonly owner: string;
  readonly shares: Map<string, Role>;
  document: Document;
}

/** The owner of files that name none. */
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
      shares: new Map(
        Object.entries(options.shares ?? {}).map(([email, role]) => [email.toLowerCase(), role]),
      ),
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

  /** The file, if the account may use it that way. Throws Google's 404 or 403. */
  open(id: string, account: Account, writes: boolean): { file: SpreadsheetFile; caller: Caller } {
    const file = this.get(id);
    const isOwner = account.email.toLowerCase() === file.owner.toLowerCase();
    const role = isOwner ? 'writer' : file.shares.get(account.email.toLowerCase());
    if (role === undefined || (writes && role === 'reader')) throw callerDenied();
    return { file, caller: { email: account.email, isOwner } };
  }

  /** Runs a change on a copy of the contents and keeps the copy only when nothing was thrown. */
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

  /** Scattered over 31 bits as Google's are, but the same in every run. */
  nextId(): number {
    this.#lastId++;
    return Number((BigInt(this.#lastId) * 1_103_515_245n + 12_345n) % 2_147_483_647n);
  }
}
