//! One definition a tool: name, words, schema and what the planner must know of its arguments.
//! Descriptors, palette rows, model offers and forms are projections of this table.

/// A built-in tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tool {
    /// `files.list`
    FilesList,
    /// `files.read`
    FilesRead,
    /// `files.search`
    FilesSearch,
    /// `files.write`
    FilesWrite,
    /// `files.edit`
    FilesEdit,
    /// `files.undo`
    FilesUndo,
    /// `calculator.evaluate`
    CalculatorEvaluate,
    /// `clock.now`
    ClockNow,
    /// `apps.open`
    AppsOpen,
}

/// Where an argument's value comes from when the on-device model fills it (decision 19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A file that exists.
    ExistingFile,
    /// A file that exists or will.
    AnyFile,
    /// A folder that exists.
    Folder,
    /// A span of the person's words, quoted spans first and in order.
    Text,
    /// Arithmetic in the person's words.
    Expression,
    /// The id of an app that can be opened.
    App,
}

/// An argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in the schema.
    pub name: &'static str,
    /// Where its value comes from.
    pub kind: FieldKind,
    /// Whether a call needs it.
    pub required: bool,
    /// How a person is asked for it.
    pub question: &'static str,
}

/// A tool's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Which tool.
    pub tool: Tool,
    /// Its name in the registry.
    pub name: &'static str,
    /// Its title in the palette.
    pub title: &'static str,
    /// What it does, for people and models.
    pub description: &'static str,
    /// JSON Schema of its arguments, in the kernel's subset.
    pub schema: &'static str,
    /// It changes something: a review before every call.
    pub mutates: bool,
    /// Models may be offered it; `false` for what only the interface itself begins.
    pub offered: bool,
    /// Its arguments, for the on-device planner.
    pub fields: &'static [Field],
}

const fn field(name: &'static str, kind: FieldKind, required: bool, question: &'static str) -> Field {
    Field { name, kind, required, question }
}

/// All built-in tools, in the order in which they are offered.
pub const DEFINITIONS: [Definition; 9] = [
    Definition {
        tool: Tool::FilesList,
        name: "files.list",
        title: "List a folder",
        description: "List the files and folders in one folder of the mounted workspace. Without a path it lists the top folder.",
        schema: r#"{"type":"object","properties":{"path":{"type":"string","format":"path","description":"a folder, relative to the mounted folder, like notes","maxLength":1024}},"additionalProperties":false}"#,
        mutates: false,
        offered: true,
        fields: &[field("path", FieldKind::Folder, false, "Which folder?")],
    },
    Definition {
        tool: Tool::FilesRead,
        name: "files.read",
        title: "Read a file",
        description: "Read a text file of the mounted workspace, whole or a range of lines.",
        schema: r#"{"type":"object","properties":{"path":{"type":"string","format":"path","description":"a file, relative to the mounted folder, like notes/todo.md","minLength":1,"maxLength":1024},"first_line":{"type":"integer","description":"first line to read, from 1","minimum":1},"line_count":{"type":"integer","description":"how many lines","minimum":1,"maximum":10000}},"required":["path"],"additionalProperties":false}"#,
        mutates: false,
        offered: true,
        fields: &[field("path", FieldKind::ExistingFile, true, "Which file should I read?")],
    },
    Definition {
        tool: Tool::FilesSearch,
        name: "files.search",
        title: "Search in files",
        description: "Find a text in the files of the mounted workspace, upper and lower case alike. Gives path, line number and line.",
        schema: r#"{"type":"object","properties":{"query":{"type":"string","description":"the text to find","minLength":1,"maxLength":256},"path":{"type":"string","format":"path","description":"a folder to stay in","maxLength":1024}},"required":["query"],"additionalProperties":false}"#,
        mutates: false,
        offered: true,
        fields: &[
            field("query", FieldKind::Text, true, "What should I search for?"),
            field("path", FieldKind::Folder, false, "In which folder?"),
        ],
    },
    Definition {
        tool: Tool::FilesWrite,
        name: "files.write",
        title: "Write a file",
        description: "Replace the whole file with the given content, or make a new file. A person reviews the change first.",
        schema: r#"{"type":"object","properties":{"path":{"type":"string","format":"path","description":"the file, relative to the mounted folder","minLength":1,"maxLength":1024},"content":{"type":"string","description":"the whole new content of the file","maxLength":131072}},"required":["path","content"],"additionalProperties":false}"#,
        mutates: true,
        offered: true,
        fields: &[
            field("path", FieldKind::AnyFile, true, "Which file should I write?"),
            field("content", FieldKind::Text, true, "What should the file contain? Put the text in quotes."),
        ],
    },
    Definition {
        tool: Tool::FilesEdit,
        name: "files.edit",
        title: "Edit a file",
        description: "Replace one exact piece of text in a file. The text to find must occur exactly once. A person reviews the change first.",
        schema: r#"{"type":"object","properties":{"path":{"type":"string","format":"path","description":"the file, relative to the mounted folder","minLength":1,"maxLength":1024},"find":{"type":"string","description":"the exact text to replace; it must occur once","minLength":1,"maxLength":131072},"replace":{"type":"string","description":"what stands there afterwards","maxLength":131072}},"required":["path","find","replace"],"additionalProperties":false}"#,
        mutates: true,
        offered: true,
        fields: &[
            field("path", FieldKind::ExistingFile, true, "Which file should I edit?"),
            field("find", FieldKind::Text, true, "Which text should I replace? Put it in quotes."),
            field("replace", FieldKind::Text, true, "What should stand there instead? Put it in quotes."),
        ],
    },
    Definition {
        tool: Tool::FilesUndo,
        name: "files.undo",
        title: "Undo a change",
        description: "Put back what a file held before one change of AI Echo. A person reviews it first.",
        schema: r#"{"type":"object","properties":{"operation":{"type":"string","format":"identifier","description":"the operation on the receipt","minLength":1,"maxLength":128}},"required":["operation"],"additionalProperties":false}"#,
        mutates: true,
        offered: false,
        fields: &[],
    },
    Definition {
        tool: Tool::CalculatorEvaluate,
        name: "calculator.evaluate",
        title: "Calculate",
        description: "Work out arithmetic exactly: + - * / ^ %, brackets, sqrt, abs, round, min, max.",
        schema: r#"{"type":"object","properties":{"expression":{"type":"string","description":"the arithmetic, like (12+3)*7","minLength":1,"maxLength":512}},"required":["expression"],"additionalProperties":false}"#,
        mutates: false,
        offered: true,
        fields: &[field("expression", FieldKind::Expression, true, "What should I calculate?")],
    },
    Definition {
        tool: Tool::ClockNow,
        name: "clock.now",
        title: "Date and time",
        description: "Tell today's date and the time of day.",
        schema: r#"{"type":"object","properties":{},"additionalProperties":false}"#,
        mutates: false,
        offered: true,
        fields: &[],
    },
    Definition {
        tool: Tool::AppsOpen,
        name: "apps.open",
        title: "Open an app",
        description: "Open one of this shell's apps in its window.",
        schema: r#"{"type":"object","properties":{"app":{"type":"string","format":"identifier","description":"the app's id, like files or settings","minLength":1,"maxLength":64}},"required":["app"],"additionalProperties":false}"#,
        mutates: false,
        offered: true,
        fields: &[field("app", FieldKind::App, true, "Which app should I open?")],
    },
];

impl Tool {
    /// The tool of a name.
    pub fn named(name: &str) -> Option<Self> {
        DEFINITIONS.iter().find(|d| d.name == name).map(|d| d.tool)
    }

    /// Its definition.
    pub fn definition(self) -> &'static Definition {
        // The table holds each variant once, in the order of the enum; a test pins it.
        &DEFINITIONS[self as usize]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.definition().name
    }
}
