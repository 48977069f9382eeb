// The words of an interview that are not sent yet, and the time that is left, in the storage of this tab alone.

const MOST = 4000; // characters of a draft that is read back

/** The draft { words, left } of a question; empty where there is none, and for what is no draft of this interview. */
export function readDraft(storage, key, interview, number) {
  try {
    const kept = JSON.parse(storage().getItem(key) ?? "null");
    const { words, left } = (kept?.interview === interview && kept.drafts?.[number]) || {};
    return {
      ...(typeof words === "string" && { words: words.slice(0, MOST) }),
      ...(Number.isFinite(left) && left <= 3600 && left > -86400 && { left }),
    };
  } catch {
    return {}; // the storage is blocked, which the page says
  }
}

/** Keeps a draft; drafts of another interview go. Returns whether it could. */
export function keepDraft(storage, key, interview, number, draft) {
  try {
    let drafts = {};
    try {
      const kept = JSON.parse(storage().getItem(key) ?? "null");
      if (kept?.interview === interview && typeof kept.drafts === "object") drafts = kept.drafts ?? {};
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    storage().setItem(key, JSON.stringify({ interview, drafts: { ...drafts, [number]: draft } }));
    return true;
  } catch {
    return false;
  }
}
