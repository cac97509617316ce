/** What a page may weigh at most. */
export const MAX_PAGE_BYTES = 100_000;
