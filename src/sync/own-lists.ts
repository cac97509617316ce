import { MirrorError } from '../base/errors.ts';
import type { FormsClient, SubmissionPage } from '../forms/client.ts';
import { FormPages } from '../forms/form-pages.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { StoppableCall } from './pass-run.ts';

export interface OwnListsOptions {
  readonly client: Pick<FormsClient, 'listSubmissions'>;
  /** The forms of the workspace, as last listed. */
  readonly listForms: (signal: AbortSignal) => Promise<readonly FormIdentity[]>;
}

/**
 * Whether the source has a list of submissions for each form (L3). One that ignores `formId` shows the whole workspace for each of
 * them, and where the items do not say whose they are, each form would get the submissions of all. So before the whole of a form is
 * stored, another one is asked for, too: no submission belongs to both. Known once for the process.
 */
export class OwnLists {
  readonly #options: OwnListsOptions;
  /** Undefined while it is not known. */
  #areOwn: boolean | undefined;

  constructor(options: OwnListsOptions) {
    this.#options = options;
  }

  /** `formId` was found to be ignored: then a form that was copied before is not to be believed either. */
  get areShared(): boolean {
    return this.#areOwn === false;
  }

  /**
   * Throws PASS_INCOMPLETE where the list of `form` is that of another one, too. `first`: its first page, where that was read.
   * A workspace of one form has nothing to mix up. Rejects as the client does.
   */
  async require(form: FormIdentity, call: StoppableCall, first?: SubmissionPage): Promise<void> {
    if (this.#areOwn === true) return;
    const forms = await this.#options.listForms(call.signal);
    const others = forms.filter(({ id }) => id !== form.id);
    if (others.length === 0) return;
    const page = first ?? (await this.#firstPage(form, call));
    const own = page.items.flatMap(submissionIn);
    // Nothing to mix up yet.
    if (own.length === 0) return;
    const [other, { items }] = await this.#firstThatAnswers(others, call);
    const shown = new Set(items.flatMap(submissionIn));
    this.#areOwn = !own.some((each) => shown.has(each));
    if (!this.#areOwn) throw sharedList(form, other);
  }

  /** A form that the source cannot show holds up no other (L12). Rejects as the last one does. */
  async #firstThatAnswers(
    forms: readonly FormIdentity[],
    call: StoppableCall,
  ): Promise<[FormIdentity, Pick<SubmissionPage, 'items'>]> {
    let failure: unknown;
    for (const form of forms) {
      try {
        return [form, await this.#firstPage(form, call)];
      } catch (error) {
        if (!(error instanceof MirrorError) || error.code !== 'FORMS_FAILED') throw error;
        failure = error;
      }
    }
    throw failure;
  }

  /** Nothing for a form that is not there. */
  async #firstPage(
    { id }: FormIdentity,
    call: StoppableCall,
  ): Promise<Pick<SubmissionPage, 'items'>> {
    try {
      return await new FormPages(this.#options.client, id, call).read({ page: 1 });
    } catch (error) {
      if (error instanceof MirrorError && error.code === 'FORMS_NOT_FOUND') return { items: [] };
      throw error;
    }
  }
}

const submissionIn = ({ submission }: SubmissionPage['items'][number]): string[] =>
  submission === null ? [] : [JSON.stringify([submission.id, submission.createdAt])];

const sharedList = (form: FormIdentity, other: FormIdentity): MirrorError =>
  new MirrorError(
    'PASS_INCOMPLETE',
    `The source shows the same submissions for form "${form.name}" (${form.id}) as for form "${other.name}" (${other.id}): it ` +
      'ignores formId, so it is not known which submissions belong to which form. This run stored none. Check that ' +
      'FORMS_API_URL is the address of the Forms API itself, and ask the service why its list ignores formId.',
  );
