import { reopened, type WindowRecord } from '../../../mirror/window.ts';
import type { FormSheet } from './form-sheet.ts';
import type { StateTab } from './state-tab.ts';

/*
 * The windows that a form is read in, each as a row of the state tab. Without them the form is cut anew, and what was proven
 * window by window is proven again.
 */

/** A form's windows, in order of time; none where any can't be read. */
export function windowsOf(stateTab: StateTab, formId: string): WindowRecord[] {
  const windows = stateTab.windows(formId).map(parse);
  return windows.every((window) => window !== undefined) ? windows : [];
}

function parse(text: string): WindowRecord | undefined {
  try {
    const window = JSON.parse(text) as Partial<WindowRecord> | null;
    return typeof window?.total === 'number' ? (window as WindowRecord) : undefined;
  } catch {
    // People may write there.
    return undefined;
  }
}

/** Puts these in place of a form's windows, in memory: they are written with what is written next. */
export async function noteWindows(
  { form, spreadsheet }: FormSheet,
  windows: readonly WindowRecord[],
): Promise<void> {
  const stateTab = await spreadsheet.stateTab();
  stateTab.setWindows(
    form.id,
    windows.map((window) => JSON.stringify(window)),
  );
}

/** Changes those that a form has, in memory; where it has none, nothing is read for it. */
export async function changeWindows(
  sheet: FormSheet,
  change: (window: WindowRecord) => WindowRecord,
): Promise<void> {
  const { form, spreadsheet } = sheet;
  if (!spreadsheet.known.roles.has('state')) return;
  const before = windowsOf(await spreadsheet.stateTab(), form.id);
  if (before.length > 0) await noteWindows(sheet, before.map(change));
}

/** Takes back what was proven of a form's windows, in memory: something that was stored is gone. */
export const reopenWindows = (sheet: FormSheet): Promise<void> => changeWindows(sheet, reopened);

/** Forgets a form's windows, in memory. */
export async function dropWindows(sheet: FormSheet): Promise<void> {
  if (sheet.spreadsheet.known.roles.has('state')) await noteWindows(sheet, []);
}
