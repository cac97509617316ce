/** A broken law, and its cause. */
export type Breach = `L${number}: ${string}`;

/** `L8` */
export const lawOf = (breach: Breach | undefined): string => breach?.split(':')[0] ?? '';
