import { count, plural, span } from '../base/format.ts';
import type { FormHealth } from '../health/form-health.ts';
import type { MirrorHealth } from '../health/mirror-health.ts';
import { headline } from '../health/headline.ts';
import { reportOf } from '../health/report.ts';
import { HEALTH_STATES } from '../mirror/health-text.ts';
import type { PassRecord } from '../mirror/types.ts';
import { keptPasses } from '../targets/target-kinds.ts';
import { shortName } from './fitting.ts';
import { type Notice, threadOf } from './notice.ts';

/** What passes did to a form in a target since some time. */
export interface Changes {
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
  readonly failed: number;
  /** False where passes of that time are no longer recorded: it was at least so many. */
  readonly isAll: boolean;
}

/** As many of the newest passes as a target may keep of a form. */
export const MOST_PASSES = 3_000;

/** Adds up the passes that ended after `sinceMs`, and not after `untilMs`, as a target of `kind` records them. Pure. */
export function changesSince(
  passes: readonly PassRecord[],
  sinceMs: number,
  kind: string | null,
  untilMs = Number.POSITIVE_INFINITY,
): Changes {
  const counted = passes.filter(({ endedAt }) => {
    const endedMs = Date.parse(endedAt);
    return sinceMs < endedMs && endedMs <= untilMs;
  });
  const sum = (pick: (pass: PassRecord) => number): number =>
    counted.reduce((total, pass) => total + pick(pass), 0);
  const kept = keptPasses(kind);
  const fullest = Math.max(
    0,
    ...[...Map.groupBy(counted, ({ kind }) => kind).values()].map(({ length }) => length),
  );
  return {
    inserted: sum(({ inserted }) => inserted),
    updated: sum(({ updated }) => updated),
    deleted: sum(({ deleted }) => deleted),
    failed: counted.filter(({ outcome }) => outcome === 'failed').length,
    isAll: fullest < kept && counted.length < MOST_PASSES,
  };
}

/** A form in a target, as a digest tells of it. */
export interface DigestForm {
  readonly health: FormHealth;
  /** Null when it could not be read. */
  readonly changes: Changes | null;
  /** Its rows when the last digest was sent; undefined where none told. */
  readonly rowsBefore: number | undefined;
}

/** What a digest is made of. */
export interface DigestFacts {
  readonly health: MirrorHealth;
  readonly sinceMs: number;
  readonly forms: readonly DigestForm[];
  readonly link: string | null;
}

const LEVELS = { failed: 'error', attention: 'warning', ok: 'ok' } as const;

/** Puts it into words: what the mirror knows of itself, and what passes recorded (L17). Pure. */
export function digestNotice({ health, sinceMs, forms, link }: DigestFacts): Notice {
  const { nowMs, state } = health;
  const all = forms.map(({ changes }) => changes);
  const told = all.filter((changes) => changes !== null);
  const total: Changes = {
    inserted: told.reduce((sum, { inserted }) => sum + inserted, 0),
    updated: told.reduce((sum, { updated }) => sum + updated, 0),
    deleted: told.reduce((sum, { deleted }) => sum + deleted, 0),
    failed: told.reduce((sum, { failed }) => sum + failed, 0),
    isAll: told.length === all.length && told.every(({ isAll }) => isAll),
  };
  const ids = new Set(forms.map(({ health: { form } }) => form.id));
  const where =
    health.targets.length === 1 ? 'one target' : plural(health.targets.length, 'target');
  return {
    // What waits or works is not known to be current.
    level: state in LEVELS ? LEVELS[state as keyof typeof LEVELS] : 'warning',
    code: 'DIGEST',
    headline: `forms-mirror, the last ${span(nowMs - sinceMs)}: ${changesText(total)}`,
    body: `Now: ${headline(reportOf(health, ''))}. ${plural(ids.size, 'form')} in ${where}.`,
    lines: forms.toSorted(byWeight).map(formLine),
    remedy: null,
    command: null,
    link,
    subject: { form: null, target: null },
    forms: [],
    thread: threadOf('digest'),
    opens: false,
    atMs: nowMs,
  };
}

function formLine({ health, changes, rowsBefore }: DigestForm): string {
  const { form, target, title, overview } = health;
  const parts = [
    title,
    overview === null ? 'rows not known' : rowsText(overview.rows, rowsBefore),
    changes === null ? 'changes not known' : changesText(changes),
    overview !== null && overview.rejected > 0 ? `${count(overview.rejected)} rejected` : '',
  ];
  return `${shortName(form.name)} → ${target}: ${parts.filter((part) => part !== '').join('; ')}`;
}

function rowsText(rows: number, before: number | undefined): string {
  const change = before === undefined ? 0 : rows - before;
  const sign = change > 0 ? '+' : '−';
  return `${plural(rows, 'row')}${change === 0 ? '' : ` (${sign}${count(Math.abs(change))})`}`;
}

function changesText({ inserted, updated, deleted, failed, isAll }: Changes): string {
  const least = isAll ? '' : 'at least ';
  const passes = failed === 0 ? '' : `, ${plural(failed, 'pass', 'passes')} failed`;
  return `${least}${count(inserted)} new, ${count(updated)} changed, ${count(deleted)} marked deleted${passes}`;
}

/** Worst first, then what changed most. */
function byWeight(a: DigestForm, b: DigestForm): number {
  const rank = ({ health }: DigestForm): number => HEALTH_STATES.indexOf(health.state);
  const moved = ({ changes }: DigestForm): number =>
    changes === null ? 0 : changes.inserted + changes.updated + changes.deleted;
  return rank(a) - rank(b) || moved(b) - moved(a);
}
