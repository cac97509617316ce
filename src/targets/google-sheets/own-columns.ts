import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { BODY_FORMAT, DATE_FORMAT, FAINT_FORMAT } from './api/formatting.ts';
import type { ColumnKey } from './api/metadata.ts';

/* The columns of a tab that do not belong to a field. */

interface OwnColumn {
  readonly header: string;
  /** In pixels. */
  readonly width: number;
  readonly format: sheets_v4.Schema$CellFormat;
  /** The note on its header. */
  readonly note: string;
}

type OwnKey = Exclude<ColumnKey, `f:${string}`>;

export const isOwn = (key: ColumnKey): key is OwnKey => key in OWN;

/** In the order of a new tab: as people read, with those that only the mirror needs last. Answers come before `s:removed`. */
export const OWN: Readonly<Record<OwnKey, OwnColumn>> = {
  's:at': {
    header: 'Submitted at',
    width: 125,
    format: { numberFormat: DATE_FORMAT },
    note:
      'When the form was sent, in the time zone of this spreadsheet (File › Settings).\n\n' +
      'The columns from the forms service are kept up to date by forms-mirror: what you change in them is put back. Change answers ' +
      'in the forms service. You may sort, filter, move and rename, and add columns of your own.',
  },
  's:status': {
    header: 'Status',
    width: 105,
    format: {},
    note: 'The status in the forms service. Change it there: what you type here is put back.',
  },
  's:removed': {
    header: 'Removed',
    width: 125,
    format: { numberFormat: DATE_FORMAT },
    note: 'When forms-mirror found that the submission was deleted in the forms service. Its row is gray and stays.',
  },
  's:id': {
    header: 'Submission ID',
    width: 110,
    format: FAINT_FORMAT,
    note: 'Finds the row of each submission. Do not change it.',
  },
};

/** The columns that are read to find and count rows. */
export const OWN_COLUMNS = Object.keys(OWN) as readonly OwnKey[];

/** The format of a column unless people have changed it. */
export const formatOf = (key: ColumnKey): sheets_v4.Schema$CellFormat => ({
  ...BODY_FORMAT,
  ...(isOwn(key) && OWN[key].format),
});
