// How large a spreadsheet may be, as Google limits it. How many requests it accepts is in `request-quota.ts`.

/** Cells of a spreadsheet, empty ones included. */
export const MAX_CELLS = 10_000_000;

/** Characters (UTF-16) of one cell. A longer text makes Google refuse the whole batch. */
export const MAX_CELL_CHARACTERS = 50_000;

/** Characters of developer metadata, keys and values, for the spreadsheet and for each tab ("Metadata storage limits"). */
export const MAX_METADATA_CHARACTERS = 30_000;

/** Bytes of the body of one write: Google recommends 2 MB at most. */
export const MAX_WRITE_BYTES = 1_950_000;
