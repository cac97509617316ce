import { toMirrorError } from '../../base/errors.ts';
import type { NoticeCode } from '../../mirror/notices.ts';
import type { CheckResult } from '../../mirror/target.ts';
import { capacityOf, capacityText } from './state/capacity.ts';
import { createMetadata, deleteMetadata, METADATA_KEYS } from './api/metadata.ts';
import { readProtections } from './api/obstacles.ts';
import { allowRemedy, SheetsError } from './api/sheets-error.ts';
import { SheetFormReader } from './reader.ts';
import { FormSheet } from './state/form-sheet.ts';
import type { Spreadsheet } from './state/spreadsheet.ts';
import type { Structure } from './state/structure.ts';

/** The share of Google's 10 million cells above which a check fails: the spreadsheet is about to be full. */
const NEARLY_FULL = 0.95;

const NOT_WRITTEN: ReadonlySet<NoticeCode> = new Set([
  'CELLS_PROTECTED',
  'CELLS_MERGED',
  'CELLS_IN_HEAD',
]);

/** Checks that the spreadsheet can be read and written, one result for each check. */
export async function checkSpreadsheet(
  spreadsheet: Spreadsheet,
  signal?: AbortSignal,
): Promise<CheckResult[]> {
  const findings: CheckResult[] = [accountFinding(spreadsheet)];
  try {
    const structure = await spreadsheet.refresh(signal);
    findings.push({ ok: true, message: `The spreadsheet "${structure.title}" can be read.` });
    await tryToWrite(spreadsheet);
    findings.push({ ok: true, message: 'It can be written to.' });
    findings.push(...(await protectionFindings(spreadsheet, structure)));
    findings.push(roomFinding(structure, new Date(spreadsheet.clock.now()).toISOString()));
    findings.push(...(await tabFindings(spreadsheet, structure)));
  } catch (error) {
    const failure = toMirrorError(error);
    if (failure.code === 'CANCELLED') throw failure;
    findings.push(
      failure instanceof SheetsError
        ? { ok: false, message: failure.what, remedy: failure.remedy }
        : { ok: false, message: failure.message },
    );
  }
  return findings;
}

function accountFinding({ api }: Spreadsheet): CheckResult {
  const message =
    api.email === undefined
      ? 'Google is asked with the account that you signed in with.'
      : `Google is asked as ${api.email}. Share the spreadsheet with this address as Editor.`;
  return { ok: true, message };
}

/** Makes a piece of metadata and removes it in the same step: nothing stays, and a viewer is refused. */
async function tryToWrite(spreadsheet: Spreadsheet): Promise<void> {
  const id = spreadsheet.newMetadataId();
  await spreadsheet.api.update(
    [createMetadata({ spreadsheet: true }, METADATA_KEYS.role, 'check', id), deleteMetadata(id)],
    [],
  );
}

/** Protected ranges on tabs of ours that keep the account out, but for those that the tabs' own findings name. */
async function protectionFindings(
  { api }: Spreadsheet,
  { forms, roles }: Structure,
): Promise<CheckResult[]> {
  const tabs = new Map([...forms.values(), ...roles.values()].map((tab) => [tab.sheetId, tab]));
  if (tabs.size === 0) return [];
  const named = new Map(
    [...forms.values()].map(({ sheetId, state }) => [
      sheetId,
      state.blocked.map(({ name }) => name),
    ]),
  );
  return readProtections(await api.protections()).flatMap((one): CheckResult[] => {
    const tab = tabs.get(one.sheetId);
    if (tab === undefined || named.get(one.sheetId)?.includes(one.name) === true) return [];
    const message = `On the tab "${tab.title}" ${one.name} does not let forms-mirror write.`;
    return [{ ok: false, message, remedy: allowRemedy(api.email) }];
  });
}

function roomFinding(structure: Structure, now: string): CheckResult {
  const capacity = capacityOf(structure, now);
  const message = `${capacityText(capacity)}.`;
  return capacity.share < NEARLY_FULL
    ? { ok: true, message }
    : {
        ok: false,
        message,
        remedy:
          'Delete rows, columns or tabs that are no longer needed, or mirror into another spreadsheet.',
      };
}

/** What people did to the tabs of forms, as it is now. What makes every pass fail, or keeps cells from being written, is a failure of the check. */
async function tabFindings(spreadsheet: Spreadsheet, structure: Structure): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  for (const { formId, state } of structure.forms.values()) {
    const identity = { id: formId, slug: state.slug, name: state.name };
    const sheet = await FormSheet.open(spreadsheet, identity, structure);
    for (const { code, blocks, message, remedy } of await new SheetFormReader(sheet).notices()) {
      findings.push({ ok: !blocks && !NOT_WRITTEN.has(code), message, remedy });
    }
  }
  return findings;
}
