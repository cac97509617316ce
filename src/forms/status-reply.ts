import { isJsonObject, parseExactJson } from './exact-json.ts';
import { failureVerdict, toldError } from './said-failure.ts';
import { singleSubmission } from './submission-item.ts';

/**
 * What the body of a 2xx to a change of status says against it: it names an error, or shows the submission itself, bare or
 * wrapped, in another status. Null for anything else; a body that shows it in the wanted status is no proof that it has it.
 */
export function contradictionIn(body: string, id: string, wanted: string): string | null {
  let json: unknown;
  try {
    json = parseExactJson(body);
  } catch {
    return null;
  }
  if (!isJsonObject(json)) return null;
  if (toldError(json) !== undefined) return 'an error in its body';
  const verdict = failureVerdict(json);
  if (verdict !== undefined) return `"${verdict}" in its body saying that it failed`;
  const status = singleSubmission(json, id)?.submission?.status ?? '';
  return status === '' || status === wanted ? null : 'the submission in another status';
}
