//! The tool router on 64 KiB of arguments, beside `serde_json` only reading the same bytes.
#![allow(clippy::print_stdout, reason = "it reports on standard output")]

mod figure;

use figure::Case;
use kernel::registry::{AppEntry, AppKind, PackageState};
use kernel::tools::{Danger, Dispatch, OFFERED_MAX, TOOLS_MAX, ToolCall, ToolClass, ToolRef, ToolSource};
use kernel::{AppId, CallId, ConversationId, Digest, Kernel, OperationId, PackageId, Rev, ToolName, TurnKey};
use serde_json::{Value, json};
use std::error::Error;

/// design.md §5, in ms.
const BUDGET: f64 = 1.0;
const SIZE: usize = 64 * 1024;
const CALLS: usize = 500;

/// Everything that the shapes below hold; the other tools of the house have it as well.
const SCHEMA: &str = r##"{
    "type": "object", "required": ["path"], "additionalProperties": false,
    "properties": {
        "path": {"type": "string", "format": "path", "maxLength": 4096},
        "content": {"type": "string", "maxLength": 131072},
        "numbers": {"type": "array", "items": {"type": "number", "minimum": -1e9}},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}
    },
    "$defs": {"row": {
        "type": "object", "required": ["id", "title"],
        "properties": {
            "id": {"type": "integer", "minimum": 0},
            "title": {"type": "string", "minLength": 1, "maxLength": 512},
            "state": {"enum": ["open", "closed", "waiting"]},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}
        }
    }}
}"##;

fn main() -> Result<(), Box<dyn Error>> {
    let (kernel, app) = house()?;
    let turn = TurnKey { conversation: ConversationId::new("c1")?, turn: 1 };
    let names: Vec<ToolName> = kernel.tools().iter().map(|t| t.source.name.clone()).collect();
    let offer = &names[..OFFERED_MAX];
    let set = |word: &str| [word.to_owned()].into();
    let (grant, refused) = kernel.grant(turn.clone(), &app, offer, set("mount.write"), set("mount"));
    if let Some(why) = refused.first() {
        return Err(format!("a tool was not offered: {why}").into());
    }
    let name = offer[OFFERED_MAX / 2].clone();
    let digest = kernel.tools().get(&name).ok_or("the tool is there")?.digest;
    let mut cases = Vec::new();
    for (shape, args) in shapes() {
        let args = serde_json::to_vec(&args)?;
        if args.len().abs_diff(SIZE) > SIZE / 20 {
            return Err(format!("{shape}: {} bytes are not 64 KiB", args.len()).into());
        }
        let call = ToolCall {
            tool: ToolRef { name: name.clone(), digest },
            args,
            turn: turn.clone(),
            operation: Some(OperationId::of(&CallId { turn: turn.clone(), n: 1 })),
        };
        match kernel.router().route(&call, &app, &grant) {
            Ok(Dispatch::NeedsConfirmation { .. }) => {}
            other => return Err(format!("{shape}: {other:?}").into()),
        }
        let mut case = Case::new(shape);
        for _ in 0..CALLS {
            case.round(|| kernel.router().route(&call, &app, &grant), || serde_json::from_slice::<Value>(&call.args));
        }
        cases.push(case);
    }
    figure::report("tool route, 64 KiB", BUDGET, "serde_json reads the same", cases);
    Ok(())
}

/// Arguments of 64 KiB: what a write of a file holds, plain and full of escapes, and what a bulk change holds.
fn shapes() -> [(&'static str, Value); 4] {
    let line = "The tide turns at six in the morning, as the table in the harbour office says.\n";
    let escapes = "\"a\\b\"\t\u{1}é日😀\n";
    let row = |id: usize| {
        let title = format!("{id}: {}", &line[..74]).repeat(2);
        json!({"id": id, "title": title, "state": "waiting", "tags": ["harbour", "tides", "night watch", "of the harbour office"]})
    };
    [
        ("text", json!({"path": "notes/tides.md", "content": line.repeat(SIZE / line.len())})),
        ("escapes", json!({"path": "notes/tides.md", "content": escapes.repeat(SIZE / 28)})),
        ("numbers", json!({"path": "n.csv", "numbers": (0..8900).map(|n| f64::from(n) * 1.5).collect::<Vec<_>>()})),
        ("rows", json!({"path": "rows.json", "rows": (0..250).map(row).collect::<Vec<_>>()})),
    ]
}

/// As many tools as there is room for; the app may use as many as a turn may offer.
fn house() -> Result<(Kernel, AppId), Box<dyn Error>> {
    let mut k = Kernel::new();
    let (owner, app) = (PackageId::new("core")?, AppId::new("ai-echo")?);
    k.put_package(owner.clone(), "Core", PackageState::Present { enabled: true }, Digest::of(b"core"))?;
    let mut names = Vec::new();
    for n in 0..TOOLS_MAX {
        let name = ToolName::new(&format!("files.change-{n:03}"))?;
        names.push(name.clone());
        k.put_tool(ToolSource {
            name,
            owner: owner.clone(),
            title: "Change files".to_owned(),
            description: "Changes files as its arguments say".to_owned(),
            schema: SCHEMA.to_owned(),
            class: ToolClass::Write,
            danger: Danger::Low,
            capabilities: ["mount.write".to_owned()].into(),
            affordances: ["mount".to_owned()].into(),
        })?;
    }
    k.put_app(AppEntry {
        id: app.clone(),
        package: owner,
        package_digest: Digest::of(b""),
        title: "AI Echo".to_owned(),
        icon: "app",
        launchable: true,
        kind: AppKind::Window,
        actions: vec![],
        surfaces: vec![],
        tools: names.into_iter().take(OFFERED_MAX).collect(),
        rev: Rev(0),
    })?;
    Ok((k, app))
}
