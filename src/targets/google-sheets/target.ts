import type { Clock } from '../../base/clock.ts';
import { toMirrorError } from '../../base/errors.ts';
import type {
  CheckFinding,
  FormOverview,
  FormReader,
  FormWriter,
  Target,
  WriterOptions,
} from '../../mirror/target.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import { browserAddress, parseSheetAddress } from './address.ts';
import { type CredentialsSource, openAccount } from './credentials.ts';
import { droppedLabels } from './field-catalogue.ts';
import { noteDropped } from './column-plan.ts';
import { SheetFormReader } from './form-reader.ts';
import { FormSheet } from './form-sheet.ts';
import { notablePasses } from './form-state.ts';
import { BATCH_ROWS, SheetFormWriter } from './form-writer.ts';
import { checkSpreadsheet } from './sheet-check.ts';
import { type SheetsHub, sharedHub } from './sheets-hub.ts';
import type { Spreadsheet } from './spreadsheet.ts';
import type { FormTab } from './structure.ts';

/** Minutes of silence after which the Mirror tab raises the alarm, unless people set another number there. */
const DEFAULT_ALARM_MINUTES = 45;
/** How often somebody who waits for a writer of this process, or of another one, looks again. */
const CLAIM_POLL_MS = 100;
const LEASE_POLL_MS = 5_000;

/** What {@link openSheets} takes besides name and address. */
export interface SheetsOptions extends CredentialsSource {
  readonly clock: Clock;
  /** Minutes of silence after which the health cell of a new Mirror tab turns red; for schedules slower than a quarter of an hour. */
  readonly alarmMinutes?: number | undefined;
  /** What targets of one process share; by default one for each clock. Two hubs are as two processes. */
  readonly hub?: SheetsHub | undefined;
}

/**
 * Opens a Google Sheet as a target. Reads the credentials, calls nobody yet. Throws SETTINGS and TARGET_DENIED with the
 * remedy when address or credentials cannot be used.
 */
export async function openSheets(
  name: string,
  url: string,
  options: SheetsOptions,
): Promise<Target> {
  const { spreadsheetId } = parseSheetAddress(url);
  const account = await openAccount(options);
  const hub = options.hub ?? sharedHub(options.clock);
  const rootUrl = options.emulatorUrl?.replace(/\/*$/, '/');
  const book = hub.book(account, spreadsheetId, rootUrl);
  const address =
    rootUrl === undefined ? browserAddress(spreadsheetId) : `${rootUrl}view/${spreadsheetId}`;
  return new SheetsTarget(name, address, book, options.alarmMinutes ?? DEFAULT_ALARM_MINUTES);
}

class SheetsTarget implements Target {
  readonly name: string;
  readonly kind = 'google-sheets';
  readonly batchRows = BATCH_ROWS;
  readonly address: string;
  readonly #book: Spreadsheet;
  readonly #alarmMinutes: number;

  constructor(name: string, address: string, book: Spreadsheet, alarmMinutes: number) {
    this.name = name;
    this.address = address;
    this.#book = book;
    this.#alarmMinutes = alarmMinutes;
  }

  check(signal?: AbortSignal): Promise<CheckFinding[]> {
    return checkSpreadsheet(this.#book, signal);
  }

  async overview(): Promise<FormOverview[]> {
    const structure = await this.#book.refresh();
    const forms: FormOverview[] = [];
    for (const tab of structure.forms.values()) {
      const identity = { id: tab.formId, slug: tab.state.slug, name: tab.state.name };
      forms.push(
        overviewOf(this.#book, tab, await FormSheet.open(this.#book, identity, structure)),
      );
    }
    return forms;
  }

  async reader(formId: string): Promise<FormReader | undefined> {
    const structure = await this.#book.refresh();
    const tab = structure.forms.get(formId);
    if (tab === undefined) return undefined;
    const identity = { id: formId, slug: tab.state.slug, name: tab.state.name };
    return new SheetFormReader(await FormSheet.open(this.#book, identity, structure));
  }

  async openWriter(form: FormIdentity, options: WriterOptions): Promise<FormWriter> {
    const book = this.#book;
    const deadline = book.clock.now() + options.waitMs;
    await this.#claim(form.id, deadline, options.signal);
    try {
      const sheet = await this.#openSheet(form, deadline, options.signal);
      return new SheetFormWriter(sheet, {
        alarmMinutes: this.#alarmMinutes,
        release: () => book.unclaim(form.id),
      });
    } catch (error) {
      book.unclaim(form.id);
      throw toMirrorError(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Waits for another writer of this process. */
  async #claim(formId: string, deadline: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#book;
    while (!this.#book.claim(formId)) {
      const left = deadline - clock.now();
      if (left <= 0) throw this.#book.busy();
      await clock.sleep(Math.min(CLAIM_POLL_MS, left), signal);
    }
  }

  /** Waits for writers of other processes, as far as the commit log tells of them. */
  async #openSheet(
    form: FormIdentity,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<FormSheet> {
    const book = this.#book;
    for (;;) {
      const structure = await book.refresh(signal);
      const lease = book.leaseLeftMs;
      if (lease === 0) return FormSheet.open(book, form, structure);
      const left = deadline - book.clock.now();
      if (left <= 0) throw book.busy();
      await book.clock.sleep(Math.min(LEASE_POLL_MS, lease + 50, left), signal);
    }
  }
}

function overviewOf(book: Spreadsheet, tab: FormTab, sheet: FormSheet): FormOverview {
  const { state } = sheet;
  return {
    formId: tab.formId,
    slug: state.slug,
    name: state.name,
    location: `tab "${tab.title}" (${browserAddress(book.api.spreadsheetId, tab.sheetId)})`,
    rows: state.counts.live,
    deletedRows: state.counts.removed,
    rejected: state.counts.rejected,
    goneAt: state.goneAt,
    checkpoint: state.checkpoint,
    ...notablePasses(state.passes),
    droppedColumns: droppedLabels(noteDropped(sheet.catalogue, sheet.layout)),
  };
}
