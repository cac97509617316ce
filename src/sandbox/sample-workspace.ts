import { Random } from './random.ts';
import { sampleAnswers } from './sample-answers.ts';
import { SAMPLE_FORMS, type SampleForm } from './sample-forms.ts';
import { fieldsOf, FormsStore } from './store.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The number of days over which submissions are spread, ending yesterday. */
const DAYS = 180;
/** The part of a form's life after which its deleted field is gone from the answers. */
const DELETED_FIELD_LIFE = 0.4;

/** Options of {@link createSampleWorkspace}. */
export interface SampleOptions {
  /** Determines everything. Default 1. */
  readonly seed?: number | string;
  /** Over all forms. Default 1,250. */
  readonly submissions?: number;
  /** Number of sample forms, 1 to 3. Default 3. */
  readonly forms?: number;
  /** The store's clock; the submissions end at its time. Default: the system's. */
  readonly clock?: { now(): number };
}

/** A workspace with realistic forms and submissions. A million submissions take about 30 MB, because answers are computed when read. */
export function createSampleWorkspace(options: SampleOptions = {}): FormsStore {
  const { seed = 1, submissions = 1250, forms = 3, clock = Date } = options;
  const store = new FormsStore({ seed, clock });
  const chosen = SAMPLE_FORMS.slice(0, Math.max(1, forms));
  const lastDayMs = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  const counts = shared(submissions, chosen);
  for (const [place, sample] of chosen.entries()) {
    addSampleForm(store, sample, {
      count: counts[place] ?? 0,
      firstMs: lastDayMs - DAYS * DAY_MS,
      seed: new Random(seed, place).int(0, 2 ** 31),
    });
  }
  return store;
}

interface Life {
  readonly count: number;
  readonly firstMs: number;
  readonly seed: number;
}

function addSampleForm(
  store: FormsStore,
  { name, slug, deleted, isPaid, ...sample }: SampleForm,
  life: Life,
): void {
  const sections = [...sample.sections, [deleted]];
  const createdAtMs = life.firstMs - 3 * DAY_MS;
  const form = store.addForm({ name, slug, sections, createdAtMs });
  const fields = fieldsOf(form);
  const remaining = fields.slice(0, -1);
  form.sections.pop();
  for (let number = 0; number < life.count; number++) {
    const answered = number < life.count * DELETED_FIELD_LIFE ? fields : remaining;
    store.insert({
      formId: form.id,
      createdAt: submittedAtMs(number, life),
      status: statusAfter(number, life, isPaid),
      data: () => sampleAnswers(answered, new Random(life.seed, number)),
    });
  }
}

/** Evenly over the days, between 6 and 23 o'clock; later numbers are never earlier. */
function submittedAtMs(number: number, { count, firstMs, seed }: Life): number {
  const jitter = new Random(seed, 'time', number).next();
  const day = ((number + jitter) / count) * DAYS;
  const hours = 6 + 17 * (day % 1);
  return Math.floor(firstMs + Math.floor(day) * DAY_MS + hours * HOUR_MS);
}

/** Old ones are mostly finished, the newest not yet opened. */
function statusAfter(number: number, { count, seed }: Life, isPaid: boolean): string {
  const random = new Random(seed, 'status', number);
  const age = 1 - number / count;
  if (random.next() > age * 4) return 'NEW';
  if (random.chance(0.1)) return random.pick(['IN_PROGRESS', 'REJECTED']);
  if (random.chance(age * 0.6)) return 'ARCHIVED';
  return isPaid && random.chance(0.5) ? 'PAID' : 'DONE';
}

/** The number of submissions of each form, by share; the first form gets the rest of the rounding. */
function shared(submissions: number, forms: readonly SampleForm[]): number[] {
  const shares = forms.reduce((sum, { share }) => sum + share, 0);
  const counts = forms.map(({ share }) => Math.floor((submissions * share) / shares));
  const rest = submissions - counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count, place) => (place === 0 ? count + rest : count));
}
