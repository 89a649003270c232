// The script of all pages: the editor with marks, progress of a grading, local times, live tables.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

interface Mark { line: number; level?: string; text: string }
interface Work {
  exercise: string; person: number; source: string; starter: string;
  attempt: number | null; reading: boolean;
}
interface Attempt {
  attempt: number; done: boolean; source: string; marks: Mark[]; comments: Mark[]; html: string;
}

const find = <T extends HTMLElement>(id: string): T | null => document.getElementById(id) as T | null;
const body = document.body;
const TOKEN = body.dataset.token ?? "";
const LIVE_MS = 4000;
const RETRY_MS = 2000;

function showTimes(root: ParentNode): void {
  for (const each of root.querySelectorAll<HTMLTimeElement>("time[data-s]")) {
    const moment = new Date(Number(each.dataset.s) * 1000);
    each.dateTime = moment.toISOString();
    each.title = each.textContent ?? "";
    each.textContent = moment.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
}

async function ask<T>(address: string, form?: Record<string, string>): Promise<T> {
  const headers: Record<string, string> = { accept: "application/json" };
  let options: RequestInit = { headers };
  if (form) {
    headers["content-type"] = "application/json";
    options = { headers, method: "POST", body: JSON.stringify({ ...form, form_token: TOKEN }) };
  }
  const answer = await fetch(address, options);
  const content = await answer.json().catch(() => ({ error: "The server does not answer.", advice: "" }));
  if (!answer.ok) throw new Error(`${content.error ?? "This did not work."} ${content.advice ?? ""}`);
  return content as T;
}

const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--card)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--bg)", borderRightColor: "var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb,var(--accent) 8%,transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "color-mix(in srgb,var(--accent) 30%,transparent) !important" },
  ".cm-tooltip, .cm-panels": { color: "var(--ink)", backgroundColor: "var(--card)", borderColor: "var(--line)" },
  ".cm-tooltip": { maxWidth: "min(520px, 90vw)", border: "1px solid var(--line)", borderRadius: "8px" },
  ".cm-diagnostic": { whiteSpace: "normal" },
});

function makeEditor(parent: HTMLElement, work: Work, grade: () => void): EditorView {
  const run = (): boolean => { grade(); return true; };
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: work.source,
      extensions: [
        keymap.of([{ key: "Mod-Enter", run }]),
        lineNumbers(), history(), drawSelection(), highlightSpecialChars(), highlightActiveLine(),
        indentOnInput(), indentUnit.of("    "), bracketMatching(), closeBrackets(), search(),
        highlightSelectionMatches(), lintGutter(), cpp(), syntaxHighlighting(classHighlighter), theme,
        EditorView.cspNonce.of(body.dataset.nonce ?? ""),
        EditorView.contentAttributes.of({ "aria-label": "Your CUDA code", tabindex: "0", spellcheck: "false" }),
        EditorState.readOnly.of(work.reading),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !work.reading) keepDraft(work, update.state.doc.toString());
          const line = find<HTMLInputElement>("comment-line");
          if (update.selectionSet && line) {
            line.value = String(update.state.doc.lineAt(update.state.selection.main.head).number);
          }
        }),
      ],
    }),
  });
}

const draftName = (work: Work): string => `draft ${work.person} ${work.exercise}`;

function keepDraft(work: Work, text: string): void {
  try { localStorage.setItem(draftName(work), JSON.stringify({ text, base: work.attempt })); } catch { /* full */ }
}

// The unsaved text, unless another device has graded a newer one.
function readDraft(work: Work): string | null {
  try {
    const draft = JSON.parse(localStorage.getItem(draftName(work)) ?? "null");
    return draft && draft.base === work.attempt ? String(draft.text) : null;
  } catch { return null; }
}

// The text of an element, with a comma before each part that is in a `span`.
function readParts(element: Element): string {
  const spans = [...element.children].filter((child) => child.tagName === "SPAN");
  const others = [...element.childNodes].filter((node) => !spans.includes(node as Element));
  const first = others.map((node) => node.textContent).join("");
  const parts = [first, ...spans.map((span) => span.textContent)];
  return parts.map((part) => part?.replace(/\s+/g, " ").trim()).filter(Boolean).join(", ");
}

function startWork(work: Work): void {
  const progress = find("progress")!, result = find("result")!;
  const gradeButton = find<HTMLButtonElement>("grade"), submitButton = find<HTMLButtonElement>("submit");
  let events: EventSource | null = null;
  let shown = work.attempt;
  if (!work.reading) work.source = readDraft(work) ?? work.source;
  const editor = makeEditor(find("editor")!, work, () => void grade(false));

  const say = (text: string, busy = false): void => {
    progress.textContent = text;
    progress.className = busy ? "busy" : "";
  };
  const setText = (text: string): void =>
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });

  function showMarks(marks: Mark[], comments: Mark[]): void {
    const document_ = editor.state.doc;
    const place = (mark: Mark, severity: Diagnostic["severity"]): Diagnostic | null => {
      if (mark.line < 1 || mark.line > document_.lines) return null;
      const line = document_.line(mark.line);
      const indent = line.text.length - line.text.trimStart().length;
      return { from: line.from + indent, to: Math.max(line.from + indent, line.to), severity, message: mark.text };
    };
    const found = [
      ...marks.map((mark) => place(mark, mark.level === "error" ? "error" : "warning")),
      ...comments.map((mark) => place({ ...mark, text: `Comment: ${mark.text}` }, "info")),
    ];
    const diagnostics = found.filter((each): each is Diagnostic => each !== null);
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }

  async function showAttempt(id: number, load: boolean): Promise<void> {
    const attempt = await ask<Attempt>(`/attempts/${id}.json`);
    shown = id;
    if (load) setText(attempt.source);
    // The server has escaped the markup, and the page's policy forbids any other script.
    result.innerHTML = attempt.html;
    showTimes(result);
    const same = editor.state.doc.toString() === attempt.source;
    showMarks(same ? attempt.marks : [], same ? attempt.comments : []);
    const points = result.querySelector(".points");
    say(points && attempt.done ? `Result: ${readParts(points)}` : "");
    if (!attempt.done) follow(id);
  }

  async function showHistory(): Promise<void> {
    const list = find("attempts");
    const answer = list && !work.reading ? await fetch(list.dataset.address!).catch(() => null) : null;
    if (!list || !answer?.ok) return;
    const isOpen = list.querySelector("details")?.open ?? false;
    list.innerHTML = await answer.text();
    list.querySelector("details")!.open = isOpen;
    showTimes(list);
  }

  function follow(id: number): void {
    events?.close();
    say("Waiting", true);
    const source = (events = new EventSource(`/attempts/${id}/events`));
    source.onmessage = (event) => {
      const place = JSON.parse(event.data);
      if (place.state !== "done") { say(place.text, true); return; }
      source.close();
      if (shown === id) showAttempt(id, false).catch(fail);
      void showHistory();
    };
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(() => { if (shown === id) showAttempt(id, false).catch(fail); }, RETRY_MS);
    };
  }

  const fail = (error: Error): void => say(error.message);

  async function grade(submit: boolean): Promise<void> {
    if (work.reading || gradeButton?.disabled) return;
    for (const each of [gradeButton, submitButton]) each?.setAttribute("aria-busy", "true");
    say("Sending", true);
    try {
      const source = editor.state.doc.toString();
      const sent = await ask<{ attempt: number }>(
        `/exercises/${work.exercise}/attempts`, { source, submit: submit ? "yes" : "no" });
      shown = work.attempt = sent.attempt;
      keepDraft(work, source);
      editor.dispatch(setDiagnostics(editor.state, []));
      follow(sent.attempt);
    } catch (error) { fail(error as Error); } finally {
      for (const each of [gradeButton, submitButton]) each?.removeAttribute("aria-busy");
    }
  }

  gradeButton?.addEventListener("click", () => void grade(false));
  submitButton?.addEventListener("click", () => void grade(true));
  find("reset")?.addEventListener("click", () => {
    if (confirm("Replace your text by the starter? Undo brings it back.")) setText(work.starter);
  });
  find<HTMLInputElement>("open")?.addEventListener("change", async (event) => {
    const file = (event.target as HTMLInputElement).files?.[0];
    if (file && file.size < 262144) setText(await file.text());
    else if (file) say("A file has at most 256 KiB.");
  });
  document.addEventListener("click", (event) => {
    const button = (event.target as HTMLElement).closest<HTMLElement>("[data-attempt],[data-line],[data-post]");
    if (!button) return;
    const { attempt, line, post, done } = button.dataset;
    if (attempt) showAttempt(Number(attempt), true).catch(fail);
    if (post) {
      ask<{ attempt: number }>(post, {}).then((answer) => showAttempt(answer.attempt, false)).then(
        () => { if (done) say(done); void showHistory(); }, fail);
    }
    if (line && Number(line) <= editor.state.doc.lines) {
      const from = editor.state.doc.line(Number(line)).from;
      editor.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      editor.focus();
    }
  });
  result.addEventListener("toggle", (event) => {
    const details = event.target as HTMLDetailsElement;
    const address = details.dataset?.report;
    if (!address || details.querySelector("iframe")) return;
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "");
    frame.title = "The report of this attempt";
    frame.src = address;
    details.append(frame);
  }, true);
  if (work.attempt !== null) showAttempt(work.attempt, false).catch(fail);
}

function keepLive(table: HTMLElement): void {
  setInterval(async () => {
    if (document.hidden || table.contains(document.activeElement)) return;
    const seen = table.querySelector<HTMLElement>("[data-version]")?.dataset.version ?? "";
    const answer = await fetch(`${table.dataset.live}&seen=${seen}`).catch(() => null);
    if (answer?.status !== 200) return;
    table.innerHTML = await answer.text();
    showTimes(table);
  }, LIVE_MS);
}

showTimes(document);
const data = find("data");
if (data) startWork(JSON.parse(data.dataset.json!) as Work);
document.querySelectorAll<HTMLElement>("[data-live]").forEach(keepLive);
document.querySelectorAll<HTMLInputElement>("[data-into]").forEach((input) =>
  input.addEventListener("change", async () => {
    const file = input.files?.[0], target = find<HTMLTextAreaElement>(input.dataset.into!);
    if (file && target) target.value = await file.text();
  }));
document.querySelectorAll<HTMLElement>("[data-copy]").forEach((button) =>
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy!);
    button.textContent = "Copied";
  }));
