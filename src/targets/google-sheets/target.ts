import type { Clock } from '../../base/clock.ts';
import { toMirrorError } from '../../base/errors.ts';
import type { DescribeHealth } from '../../mirror/health-text.ts';
import type {
  CheckResult,
  FormOverview,
  FormReader,
  FormWriter,
  HeldForm,
  MarkingLock,
  Target,
  WriterOptions,
} from '../../mirror/target.ts';
import type { LookRecord } from '../../mirror/look-record.ts';
import { type Pause, pausedError, pauseOf } from '../../mirror/pauses.ts';
import type { FormSnapshot } from '../../mirror/snapshot.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import { browserAddress } from './api/address.ts';
import { type CredentialsSource, openAccount } from '../google/credentials.ts';
import { SHEETS_SCOPE } from './api/sheets-error.ts';
import { SheetFormReader } from './reader.ts';
import { sheetSnapshot } from './snapshot.ts';
import { readObstacles } from './state/blocked.ts';
import { FormSheet } from './state/form-sheet.ts';
import { takeMarkingLease } from './state/marking-lease.ts';
import { keepLook, readLook } from './state/kept-look.ts';
import { endPause, keepPause, readPauses } from './state/kept-pauses.ts';
import { keepSlug, readSlugs } from './state/kept-slugs.ts';
import { stateWithoutTab } from './state/known-forms.ts';
import { overviewOf } from './state/overview.ts';
import { BATCH_ROWS, SheetFormWriter } from './writer.ts';
import { checkSpreadsheet } from './check.ts';
import { type SpreadsheetRegistry, processRegistry } from './registry.ts';
import type { Spreadsheet } from './state/spreadsheet.ts';

/** What a Mirror tab shows where nothing judges health: whether the copy is stale, and no more. */
const UNJUDGED: DescribeHealth = () => ({
  state: 'ok',
  title: 'Mirrored',
  message: null,
  remedy: null,
  staleAfterMinutes: 45,
  staleTitle: 'Stale',
});
/** How often a writer that waits for another one of this process, or of another process, tries again. */
const CLAIM_POLL_MS = 100;
const LEASE_POLL_MS = 5_000;

export interface SheetsOptions extends CredentialsSource {
  readonly clock: Clock;
  /** Puts a form's health into words for the Mirror tab; without it the tab only shows what is stale. */
  readonly describe?: DescribeHealth | undefined;
  /** SHEETS_SUMMARY; undefined: only in a spreadsheet that the mirror began. */
  readonly summary?: boolean | undefined;
  /** What targets of one process share; by default one for each clock. Two registries act like two processes. */
  readonly registry?: SpreadsheetRegistry | undefined;
}

/**
 * Opens a Google Sheet as a target. Reads the credentials and makes no call yet. Throws SETTINGS and TARGET_DENIED with the
 * remedy when the credentials cannot be used.
 */
export async function openSheets(
  name: string,
  spreadsheetId: string,
  options: SheetsOptions,
): Promise<Target> {
  const account = await openAccount(options, SHEETS_SCOPE);
  const registry = options.registry ?? processRegistry(options.clock);
  const rootUrl = options.emulatorUrl?.replace(/\/*$/, '/');
  const spreadsheet = registry.spreadsheet(account, spreadsheetId, rootUrl);
  const address =
    rootUrl === undefined ? browserAddress(spreadsheetId) : `${rootUrl}view/${spreadsheetId}`;
  const { describe = UNJUDGED, summary } = options;
  return new SheetsTarget(name, address, spreadsheet, { describe, summary });
}

class SheetsTarget implements Target {
  readonly name: string;
  readonly kind = 'google-sheets';
  readonly batchRows = BATCH_ROWS;
  readonly isMetered = true;
  readonly address: string;
  readonly #spreadsheet: Spreadsheet;
  readonly #describe: DescribeHealth;
  readonly #summary: boolean | undefined;

  constructor(
    name: string,
    address: string,
    spreadsheet: Spreadsheet,
    shows: { readonly describe: DescribeHealth; readonly summary: boolean | undefined },
  ) {
    this.name = name;
    this.address = address;
    this.#spreadsheet = spreadsheet;
    this.#describe = shows.describe;
    this.#summary = shows.summary;
  }

  check(signal?: AbortSignal): Promise<CheckResult[]> {
    return checkSpreadsheet(this.#spreadsheet, signal);
  }

  async overview(): Promise<FormOverview[]> {
    const structure = await this.#spreadsheet.refresh();
    const forms: FormOverview[] = [];
    const blocked = [...structure.forms.values()].flatMap(({ state }) => state.blocked);
    const obstacles =
      blocked.length === 0 ? undefined : await readObstacles(this.#spreadsheet, blocked);
    for (const { formId, state } of structure.forms.values()) {
      const identity = { id: formId, slug: state.slug, name: state.name };
      const { view } = await FormSheet.open(this.#spreadsheet, identity, structure);
      const { state: seen, tab } = view;
      const held = overviewOf(this.#spreadsheet, formId, seen, tab, undefined, obstacles);
      forms.push({ ...held, place: { url: this.#urlOf(tab?.sheetId) } });
    }
    for (const known of structure.knownForms.values()) {
      if (structure.forms.has(known.id)) continue;
      forms.push(overviewOf(this.#spreadsheet, known.id, stateWithoutTab(known), undefined));
    }
    return forms;
  }

  async heldForms(): Promise<HeldForm[]> {
    const held: HeldForm[] = [];
    for (const { formId: id, slug, name, goneAt } of await this.overview()) {
      const fields = (await (await this.reader(id))?.fields()) ?? [];
      held.push({ id, slug, name, goneAt, fieldIds: fields.map((field) => field.id) });
    }
    return held;
  }

  async reader(formId: string): Promise<FormReader | undefined> {
    const sheet = await this.#sheetOf(formId);
    return sheet && new SheetFormReader(sheet);
  }

  async #sheetOf(formId: string): Promise<FormSheet | undefined> {
    const structure = await this.#spreadsheet.refresh();
    const known = structure.forms.get(formId)?.state ?? structure.knownForms.get(formId);
    if (known === undefined) return undefined;
    const identity = { id: formId, slug: known.slug, name: known.name };
    return FormSheet.open(this.#spreadsheet, identity, structure);
  }

  /** Where a browser opens the tab; a stand-in takes it as a parameter. */
  #urlOf(sheetId: number | undefined): string {
    const separator = this.address.includes('/edit') ? '#' : '?';
    return sheetId === undefined ? this.address : `${this.address}${separator}gid=${sheetId}`;
  }

  /** A spreadsheet has tabs. */
  async relations(): Promise<undefined> {}

  async snapshot(formId: string): Promise<FormSnapshot | undefined> {
    const sheet = await this.#sheetOf(formId);
    return sheet && sheetSnapshot(sheet);
  }

  async openWriter(form: FormIdentity, options: WriterOptions): Promise<FormWriter> {
    const spreadsheet = this.#spreadsheet;
    const deadline = spreadsheet.clock.now() + options.waitMs;
    await this.#claim(form.id, deadline, options.signal);
    try {
      const sheet = await this.#openSheet(form, deadline, options.signal);
      const pause = pauseOf(await this.pauses(), form.id);
      if (pause !== null && options.whilePaused !== true)
        throw pausedError(pause, form.slug, this.name);
      return new SheetFormWriter(sheet, {
        describe: this.#describe,
        summary: this.#summary,
        release: () => spreadsheet.unclaim(form.id),
      });
    } catch (error) {
      spreadsheet.unclaim(form.id);
      throw toMirrorError(error);
    }
  }

  async lockMarking(formId: string, signal?: AbortSignal): Promise<MarkingLock | undefined> {
    return takeMarkingLease(this.#spreadsheet, formId, signal);
  }

  lastLook(): Promise<LookRecord | null> {
    return readLook(this.#spreadsheet);
  }

  recordLook(look: LookRecord): Promise<void> {
    return keepLook(this.#spreadsheet, look, this.#describe);
  }

  pauses(): Promise<Pause[]> {
    return readPauses(this.#spreadsheet);
  }

  pause(pause: Pause): Promise<Pause> {
    return keepPause(this.#spreadsheet, pause, this.#describe);
  }

  resume(formId: string | null): Promise<Pause | undefined> {
    return endPause(this.#spreadsheet, formId, this.#describe);
  }

  slugs(): Promise<ReadonlyMap<string, string>> {
    return readSlugs(this.#spreadsheet);
  }

  bindSlug(slug: string, formId: string): Promise<string> {
    return keepSlug(this.#spreadsheet, slug, formId);
  }

  /** What was removed is gone with the write that removed it; the spreadsheet's version history is not ours to change. */
  async scrub(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Waits for another writer of this process. */
  async #claim(formId: string, deadline: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#spreadsheet;
    while (!this.#spreadsheet.claim(formId)) {
      const left = deadline - clock.now();
      if (left <= 0) throw this.#spreadsheet.busy();
      await clock.sleep(Math.min(CLAIM_POLL_MS, left), signal);
    }
  }

  /** Waits for writers of other processes, as far as the commit log shows them. */
  async #openSheet(
    form: FormIdentity,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<FormSheet> {
    const spreadsheet = this.#spreadsheet;
    for (;;) {
      const structure = await spreadsheet.refresh(signal);
      const lease = spreadsheet.leaseLeftMs;
      if (lease === 0) return FormSheet.open(spreadsheet, form, structure);
      const left = deadline - spreadsheet.clock.now();
      if (left <= 0) throw spreadsheet.busy();
      await spreadsheet.clock.sleep(Math.min(LEASE_POLL_MS, lease + 50, left), signal);
    }
  }
}
