import type { NoticeCode } from '../../src/mirror/port.ts';

/** The meaning of a notice, and what to do. */
export const NOTICES: Readonly<Record<NoticeCode, readonly [meaning: string, remedy: string]>> = {
  ID_COLUMN_DELETED: [
    "Someone deleted the column of submission IDs from a form's tab. Runs fail until it is back.",
    'Undo the deletion or restore an earlier version. Otherwise rename the tab, copy your notes out of it and delete it: the next run makes a new tab.',
  ],
  ROWS_COPIED: [
    'A row is a copy of another one, with the same submission ID. Only the upper one is updated.',
    'Delete the copy or move it to a tab of your own.',
  ],
  ROWS_WITHOUT_ID: [
    'A row has no ID of a submission and is not updated. If it lost the ID, the submission has a new row.',
    'Move your notes to the new row and delete the old one. Move a row of your own to another tab.',
  ],
  CELLS_PROTECTED: [
    'A protection or a merge keeps the mirror from writing some cells.',
    'Allow the service account to edit the range, or unmerge the cells. The next run writes them.',
  ],
  VIEW_BEHIND: [
    'A view could not be replaced and lacks new forms or fields.',
    'Close transactions that hold it, and change or drop views of yours that keep a column of it. A later run tries again.',
  ],
  UNSELECTED_ANSWERS: [
    'Columns may still contain answers that the settings do not allow: of fields that are not selected, or plain ones of fields that are to be hashed in a form that no run writes to.',
    'Select the fields or the form again. Or empty the columns with forms-mirror purge --unselected, which cannot be undone.',
  ],
};
