/** One entry of a folder. A link is listed and never opened. */
export interface WorkspaceEntry { name: string; kind: "file" | "folder" | "directory" | "link"; size?: number }

/**
 * Any object that lists a folder and reads a file. What is not there is `undefined`, or an error
 * named `NotFoundError` or coded `ENOENT`.
 */
export interface WorkspaceStorage {
  list(path: string): WorkspaceEntry[] | undefined | Promise<WorkspaceEntry[] | undefined>;
  read(path: string): string | Uint8Array | ArrayBuffer | undefined | Promise<string | Uint8Array | ArrayBuffer | undefined>;
}

export interface DiscoverOptions { workspaceRoot: string }

/** Without `workspaceRoot`, paths are relative to the storage's own root. */
export interface ConventionOptions { targets?: string[]; metadata?: boolean; workspaceRoot?: string }

/** What every function here throws. */
export interface Refusal extends Error { code: string; subject: string; expected: string; observed: string }

export interface SkillDiagnostic {
  /** Path below the workspace; not given inside a catalogue entry. */
  place?: string;
  code: string;
  severity: "Note" | "Warning" | "NotPortable" | "Unreadable";
  line?: number;
  column?: number;
  cause: string;
  fix: string;
}

export interface SkillCatalogEntry {
  name: string;
  description: string;
  compatibility?: string;
  verdict: "Portable" | "Readable" | "Unreadable";
  diagnostics: SkillDiagnostic[];
}

export interface ActivatedSkill {
  name: string;
  /** The exact text below the frontmatter. */
  body: string;
  /** SHA-256 of the whole file, lower-case hex. */
  contentHash: string;
  provenance: { root: string; path: string; bytes: number };
  /** What `allowed-tools` asks for. */
  requestedToolHints: string[];
  /** Always false: a hint permits nothing. */
  requestedToolHintsAreAuthority: false;
  /** Nothing hides in it and its name looks like no other. */
  clean: boolean;
  version?: string;
}

/** Without `metadata` the texts alone, broad to specific. */
export type WorkspaceConventions =
  | { blocks: string[]; truncated: boolean }
  | {
      blocks: {
        source: string; family: string; text: string; contentHash: string;
        matched: { target: string; pattern?: string }[];
        why: string;
        /** Bytes shown, of `total`. */
        kept: number; total: number;
      }[];
      omissions: { path: string; code: string; reason: string }[];
      combinedHash: string; truncated: boolean; targets: string[];
      /** Bytes that may be taken together, and are. */
      budget: number; used: number;
    };
