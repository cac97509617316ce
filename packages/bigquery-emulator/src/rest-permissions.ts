import { part, type Call } from './call.ts';
import { textsAt } from './json-object.ts';

/** Which of the permissions that are asked for the caller has on a table or view. */
export function testPermissions(call: Call): object {
  // A table that is not there is a 404.
  call.catalog.table(part(call, 'projectId'), part(call, 'datasetId'), part(call, 'tableId'));
  const asked = textsAt(call.body, 'permissions');
  const permissions = asked.filter((permission) => !call.withheld.has(permission));
  return permissions.length === 0 ? {} : { permissions };
}
