import type { SpreadsheetFiles } from '../../src/spreadsheet-files.ts';
import { Person } from './people.ts';

/** The people of an emulator: what they do in the browser, without quota, log or network. */
export class People {
  readonly #files: SpreadsheetFiles;

  constructor(files: SpreadsheetFiles) {
    this.#files = files;
  }

  /** A user with this tab open, by title or sheet ID; the owner of the file unless `email` is given. */
  at(spreadsheetId: string, tab: string | number, email?: string): Person {
    const file = this.#files.get(spreadsheetId);
    const sheet = file.document.sheets.find(
      (candidate) => candidate.id === tab || candidate.properties.title === tab,
    );
    if (sheet === undefined) throw new Error(`no tab ${tab}`);
    return new Person(this.#files, spreadsheetId, sheet.id, email ?? file.owner);
  }

  /** The owner shares the file, or changes a role. */
  share(spreadsheetId: string, email: string, role: 'writer' | 'reader'): void {
    this.#files.get(spreadsheetId).shares.set(email.toLowerCase(), role);
  }
}
