import { lookOf } from '../../../mirror/looked.ts';
import type { FormOverview } from '../../../mirror/target.ts';
import { browserAddress } from '../api/address.ts';
import { noteDropped } from '../columns/column-plan.ts';
import { droppedLabels, EMPTY_CATALOGUE, type FieldCatalogue } from '../columns/field-catalogue.ts';
import { layoutOf } from '../columns/layout.ts';
import { type FormState, notablePasses } from './form-state.ts';
import { knownLook } from './known-look.ts';
import { lossesOf } from './losses.ts';
import { noticesOf } from './notices.ts';
import type { Spreadsheet } from './spreadsheet.ts';
import type { FormTab } from './structure.ts';

/**
 * The overview of a form; `tab` is undefined while it is about to be made. Its catalogue must be in memory, or be given: the
 * one that a write leaves.
 */
export function overviewOf(
  spreadsheet: Spreadsheet,
  formId: string,
  state: FormState,
  tab: FormTab | undefined,
  catalogue?: FieldCatalogue,
): FormOverview {
  const { spreadsheetId } = spreadsheet.api;
  const known = catalogue ?? spreadsheet.catalogueOf(tab) ?? EMPTY_CATALOGUE;
  const layout = tab && layoutOf(tab, known);
  const dropped = layout ? droppedLabels(catalogue ?? noteDropped(known, layout)) : [];
  return {
    formId,
    slug: state.slug,
    name: state.name,
    location:
      tab === undefined
        ? spreadsheet.address
        : `tab "${tab.title}" (${browserAddress(spreadsheetId, tab.sheetId)})`,
    rows: state.counts.live,
    deletedRows: state.counts.removed,
    rejected: state.counts.rejected,
    goneAt: state.goneAt,
    checkpoint: state.checkpoint,
    look: lookOf(knownLook(spreadsheet), formId),
    marking: state.marking,
    // The counts are of the last write: what the pass before it missed is known, too.
    losses: lossesOf(state, state.counts.live + state.counts.removed).losses,
    ...notablePasses(state.passes),
    droppedColumns: dropped,
    fields: known.fields,
    filledFields: known.fields.filter((field) => field.content !== 'none' && !field.dropped),
    forgotten: state.forgotten?.count ?? 0,
    notices: layout ? noticesOf({ formId, layout, dropped, state }) : [],
  };
}
