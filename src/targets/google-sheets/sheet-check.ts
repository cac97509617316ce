import { toMirrorError } from '../../base/errors.ts';
import type { CheckFinding } from '../../mirror/target.ts';
import { capacityOf, capacityText } from './capacity.ts';
import { createMetadata, deleteMetadata, METADATA_KEYS } from './sheet-metadata.ts';
import { SheetsError } from './sheets-error.ts';
import type { Spreadsheet } from './spreadsheet.ts';
import type { Structure } from './structure.ts';

/** Above this share of Google's 10 million cells a spreadsheet is as good as full. */
const NEARLY_FULL = 0.95;

/** Tries reach and rights of a spreadsheet, one finding for each thing tried. */
export async function checkSpreadsheet(
  book: Spreadsheet,
  signal?: AbortSignal,
): Promise<CheckFinding[]> {
  const findings: CheckFinding[] = [accountFinding(book)];
  try {
    const structure = await book.refresh(signal);
    findings.push({ ok: true, message: `The spreadsheet "${structure.title}" can be read.` });
    await tryToWrite(book);
    findings.push({ ok: true, message: 'It can be written to.' });
    findings.push(...(await protectionFindings(book, structure)));
    findings.push(roomFinding(structure, new Date(book.clock.now()).toISOString()));
    findings.push(...copyFindings(structure));
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

function accountFinding({ api }: Spreadsheet): CheckFinding {
  const message =
    api.email === undefined
      ? 'Google is asked with the account that you signed in with.'
      : `Google is asked as ${api.email}. Share the spreadsheet with this address as Editor.`;
  return { ok: true, message };
}

/** Makes a piece of metadata and removes it in the same step: nothing stays, and a viewer is refused. */
async function tryToWrite(book: Spreadsheet): Promise<void> {
  const id = book.newMetadataId();
  await book.api.update(
    [createMetadata({ spreadsheet: true }, METADATA_KEYS.role, 'check', id), deleteMetadata(id)],
    [],
  );
}

/** Ranges on tabs of ours that we may not edit: a single one makes every write to it fail. */
async function protectionFindings(
  book: Spreadsheet,
  structure: Structure,
): Promise<CheckFinding[]> {
  const ours = new Set(
    [...structure.forms.values(), ...structure.roles.values()].map((tab) => tab.sheetId),
  );
  if (ours.size === 0) return [];
  const answer = await book.api.protections();
  return (answer.sheets ?? [])
    .filter((sheet) => ours.has(sheet.properties?.sheetId ?? 0))
    .flatMap((sheet) =>
      (sheet.protectedRanges ?? [])
        .filter((range) => range.warningOnly !== true && range.requestingUserCanEdit !== true)
        .map((range): CheckFinding => {
          const name = range.description ? `"${range.description}"` : 'without a description';
          return {
            ok: false,
            message: `The protected range ${name} on the tab "${sheet.properties?.title ?? ''}" keeps us out.`,
            remedy: `Allow ${book.api.email ?? 'the account'} to edit it (Data › Protect sheets and ranges), or let it only show a warning.`,
          };
        }),
    );
}

function roomFinding(structure: Structure, now: string): CheckFinding {
  const capacity = capacityOf(structure, now);
  const message = `${capacityText(capacity)}.`;
  return capacity.share < NEARLY_FULL
    ? { ok: true, message }
    : {
        ok: false,
        message,
        remedy:
          'Delete rows, columns or tabs that nobody needs, or mirror into another spreadsheet.',
      };
}

function copyFindings(structure: Structure): CheckFinding[] {
  return [...structure.forms.values()]
    .filter((tab) => tab.state.counts.copies > 0)
    .map((tab) => ({
      ok: true,
      message: `On the tab "${tab.title}" ${copiesText(tab.state.counts.copies)}: somebody made copies. They are left alone; only the upper row of each is kept up to date.`,
    }));
}

const copiesText = (count: number): string =>
  count === 1
    ? "one row repeats another row's submission ID"
    : `${count} rows repeat other rows' submission IDs`;
