/** How large the windows of a form are, in submissions. */
export interface WindowSizes {
  /** What a window is to have at most when it is cut; a single day may have more. */
  readonly aim: number;
  /** A form, and the newest window of one, is cut when it has more. */
  readonly most: number;
}

/** Some 200 requests to read a window, and the memory of as many IDs. */
export const WINDOW_SIZES: WindowSizes = { aim: 20_000, most: 40_000 };
