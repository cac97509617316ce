import type { Target } from '../mirror/target.ts';

type Questions<T extends readonly unknown[]> = { readonly [K in keyof T]: () => Promise<T[K]> };

/**
 * Asks a target for several things that it keeps. At once where it is billed by the statement, as one statement tells what is asked
 * for at the same moment; else one after the other, as a spreadsheet has what the first of them read for the rest.
 */
export async function askTarget<T extends readonly unknown[]>(
  target: Pick<Target, 'costs'>,
  questions: Questions<T>,
): Promise<T> {
  const answers: unknown[] = [];
  if (target.costs === undefined) for (const ask of questions) answers.push(await ask());
  else answers.push(...(await Promise.all(questions.map((ask) => ask()))));
  // In the order of the questions.
  return answers as unknown as T;
}
