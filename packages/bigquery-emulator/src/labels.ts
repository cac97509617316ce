import { invalid } from './api-error.ts';

const MAX_LABELS = 64;
/** Letters of any script that are not upper case, with their marks; digits, `_` and `-`. */
const KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}_-]{0,62}$/u;
const VALUE = /^[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}_-]{0,63}$/u;

/** The labels of a resource or job as given. Throws for labels that BigQuery refuses. */
export function checkedLabels<T extends Readonly<Record<string, string>>>(labels: T): T {
  const entries = Object.entries(labels);
  if (entries.length > MAX_LABELS) {
    throw invalid(`Too many labels: ${entries.length}. The limit is ${MAX_LABELS}.`);
  }
  for (const [key, value] of entries) {
    if (!KEY.test(key)) throw invalid(`Label key "${key}" has invalid characters.`);
    if (!VALUE.test(value)) throw invalid(`Label value "${value}" has invalid characters.`);
  }
  return labels;
}
