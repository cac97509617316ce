import { lookOf } from '../../../mirror/looked.ts';
import type { FormOverview } from '../../../mirror/target.ts';
import type { Obstacle } from '../api/obstacles.ts';
import { browserAddress } from '../api/address.ts';
import { noteDropped } from '../columns/column-plan.ts';
import { droppedLabels, EMPTY_CATALOGUE, type FieldCatalogue } from '../columns/field-catalogue.ts';
import { layoutOf } from '../columns/layout.ts';
import { stillBlocked, unblocked } from './blocked.ts';
import { type FormState, notablePasses } from './form-state.ts';
import { knownLook } from './known-look.ts';
import { lossesOf } from './losses.ts';
import { noticesOf } from './notices.ts';
import type { Spreadsheet } from './spreadsheet.ts';
import type { FormTab } from './structure.ts';

/**
 * The overview of a form; `tab` is undefined while it is about to be made. Its catalogue must be in memory, or be given: the
 * one that a write leaves. `obstacles`: what is in the way on all tabs, where it was read.
 */
export function overviewOf(
  spreadsheet: Spreadsheet,
  formId: string,
  state: FormState,
  tab: FormTab | undefined,
  catalogue?: FieldCatalogue,
  obstacles?: readonly Obstacle[],
): FormOverview {
  const { spreadsheetId } = spreadsheet.api;
  const known = catalogue ?? spreadsheet.catalogueOf(tab) ?? EMPTY_CATALOGUE;
  const layout = tab && layoutOf(tab, known);
  const dropped = layout ? droppedLabels(catalogue ?? noteDropped(known, layout)) : [];
  const here = obstacles?.filter(({ sheetId }) => sheetId === tab?.sheetId);
  const blocked = here === undefined ? state.blocked : stillBlocked(state, here);
  const seen = { ...state, blocked };
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
    losses: [
      ...lossesOf(
        state,
        state.counts.live + state.counts.removed,
        undefined,
        spreadsheet.known.timeZone,
      ).losses,
      ...(here === undefined ? [] : unblocked(state, here)),
    ],
    ...notablePasses(state.passes),
    droppedColumns: dropped,
    fields: known.fields,
    filledFields: known.fields.filter((field) => field.content !== 'none' && !field.dropped),
    forgotten: state.forgotten?.count ?? 0,
    notices: layout
      ? noticesOf({ formId, layout, dropped, state: seen, email: spreadsheet.api.email })
      : [],
  };
}
