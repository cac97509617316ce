/** From which sizes on a comparison by counts narrows. */
export interface ComparisonSizes {
  /** So many submissions of a status are read at once instead of being halved. */
  readonly leaf: number;
  /** Up to so many pages a form is read whole where its counts differ. */
  readonly shortPages: number;
}

/** A leaf is a page; comparing ten pages by halves costs no less than reading them. */
export const COMPARISON_SIZES: ComparisonSizes = { leaf: 100, shortPages: 10 };
