import { MirrorError } from '../base/errors.ts';
import type { HttpRequest } from './http-transport.ts';

/** A request to one of the endpoints, with what retries and error messages have to know about it. */
export interface FormsRequest extends HttpRequest {
  /** For messages: method, path and query, without search text. */
  readonly name: string;
  /** True for the one request whose repetition may do harm: it is sent again only when nothing can have come of it. */
  readonly unrepeatable: boolean;
  /** Texts of this request that no error may repeat: answers, search text. */
  readonly secrets: readonly string[];
  /** Names of the parameters and properties sent; null for answers, about whose fields the API may say anything. */
  readonly subjects: readonly string[] | null;
}

/** A query in order; undefined values are left out. */
export type Query = readonly (readonly [name: string, value: string | number | undefined])[];

/** Query parameters whose value may be someone's answer (L11). */
const HIDDEN_PARAMETERS = new Set(['search']);

/** A GET of `path`, which is encoded already. */
export function getRequest(path: string, query: Query = []): FormsRequest {
  const given = query.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  const secrets = given.filter(([name]) => HIDDEN_PARAMETERS.has(name)).map(([, value]) => value);
  const queryText = (show: (name: string, value: string) => string): string =>
    given.length === 0 ? '' : `?${given.map(([name, value]) => show(name, value)).join('&')}`;
  return {
    method: 'GET',
    path: path + queryText((name, value) => `${name}=${encode(value)}`),
    name: `GET ${path}${queryText((name, value) => `${name}=${secrets.includes(value) ? '…' : encode(value)}`)}`,
    readsBody: true,
    unrepeatable: false,
    secrets,
    subjects: given.map(([name]) => name),
  };
}

/** A PATCH of one property, whose repetition changes nothing more; its success needs no body. */
export function patchRequest(path: string, property: string, value: string): FormsRequest {
  return {
    method: 'PATCH',
    path,
    name: `PATCH ${path}`,
    body: JSON.stringify({ [property]: value }),
    readsBody: false,
    unrepeatable: false,
    secrets: [],
    subjects: [property],
  };
}

/** A POST that creates something: on a connection of its own, so that "refused" and "broke" are distinguishable. */
export function postRequest(path: string, body: string, secrets: readonly string[]): FormsRequest {
  return {
    method: 'POST',
    path,
    name: `POST ${path}`,
    body,
    ownConnection: true,
    readsBody: false,
    unrepeatable: true,
    secrets,
    subjects: null,
  };
}

/**
 * An ID or slug as one segment of a path. Throws FORMS_REFUSED for one that no address can carry (empty, a dot step, or
 * broken Unicode): asking for something else instead, and taking its 404 for an answer, would prove a deletion that
 * never was.
 */
export function pathSegment(id: string): string {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) {
    throw new MirrorError(
      'FORMS_REFUSED',
      'The Forms API cannot be asked for an empty or broken ID.',
    );
  }
  return encode(id);
}

const encode = (value: string): string => encodeURIComponent(value.toWellFormed());
