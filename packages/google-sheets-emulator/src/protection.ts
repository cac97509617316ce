import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { type Area, cellsOf, meets, type Sheet } from './sheet.ts';

/** The caller, from the view of protections. */
export interface Caller {
  readonly email: string;
  /** The owner may edit everything, protected or not. */
  readonly isOwner: boolean;
}

/** True if the caller may edit the range of a protection. A warning does not apply to callers of the API. */
export function mayEditProtected(
  protection: sheets_v4.Schema$ProtectedRange,
  caller: Caller,
): boolean {
  if (protection.warningOnly === true || caller.isOwner) return true;
  return (protection.editors?.users ?? []).some(
    (user) => user.toLowerCase() === caller.email.toLowerCase(),
  );
}

/** The first hard protection that prevents the caller from editing the area; undefined if there is none. */
export function obstacle(
  sheet: Sheet,
  area: Area,
  caller: Caller,
): sheets_v4.Schema$ProtectedRange | undefined {
  return sheet.overlays.protectedRanges.find(
    (protection) => !mayEditProtected(protection, caller) && meets(area, cellsOf(protection.range)),
  );
}

/**
 * A protection as the caller sees it: `requestingUserCanEdit` is theirs, and editors are shown to those who may edit.
 */
export function protectionResource(
  protection: sheets_v4.Schema$ProtectedRange,
  caller: Caller,
): sheets_v4.Schema$ProtectedRange {
  const { editors, requestingUserCanEdit: _, warningOnly, ...rest } = protection;
  const mayEdit = mayEditProtected(protection, caller);
  return {
    ...rest,
    ...(warningOnly === true && { warningOnly }),
    ...(mayEdit && { requestingUserCanEdit: true }),
    ...(mayEdit && { editors: editors ?? {} }),
  };
}
