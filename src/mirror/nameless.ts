/*
 * Items without an ID are listed under names that tell nothing of them; forms/nameless-keys.ts makes these.
 */

/** A name made of a digest that nobody can make without a secret. */
export const namelessName = (digest: string): string => `no-id:k${digest.slice(0, 31)}`;

/** True for a name of an earlier release: a plain digest of all answers, which tells them to whoever guesses them. */
export const isPlainDigest = (name: string): boolean => /^no-id:[0-9a-f]{32}$/.test(name);
