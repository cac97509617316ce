import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { type Area, cellsOf, meets, type Sheet } from './sheet.ts';

/** Who asks, as protections see them. */
export interface Caller {
  readonly email: string;
  /** The owner edits everything, protected or not. */
  readonly isOwner: boolean;
}

/** True when the caller may edit what a protection covers. A warning does not apply to callers of the API. */
export function mayEditProtected(
  protection: sheets_v4.Schema$ProtectedRange,
  caller: Caller,
): boolean {
  if (protection.warningOnly === true || caller.isOwner) return true;
  return (protection.editors?.users ?? []).some(
    (user) => user.toLowerCase() === caller.email.toLowerCase(),
  );
}

/** The first hard protection that keeps the caller from editing the area; undefined when nothing does. */
export function obstacle(
  sheet: Sheet,
  area: Area,
  caller: Caller,
): sheets_v4.Schema$ProtectedRange | undefined {
  return sheet.overlays.protectedRanges.find(
    (protection) => !mayEditProtected(protection, caller) && meets(area, cellsOf(protection.range)),
  );
}

/** A protection as the caller sees it: `requestingUserCanEdit` is theirs, editors are shown to those who may edit. */
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
