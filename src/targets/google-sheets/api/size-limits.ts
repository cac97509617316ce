// How large a spreadsheet may be, as Google limits it. How many requests it accepts is in `request-quota.ts`.

/** Cells of a spreadsheet, empty ones included. */
export const MAX_CELLS = 10_000_000;

/** Characters (UTF-16) of one cell. A longer text makes Google refuse the whole batch. */
export const MAX_CELL_CHARACTERS = 50_000;
