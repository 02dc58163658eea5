//! `ToolRouter::route` is total over bytes (engine.md I-145): the input is a call's arguments.
//! A first byte of `0x00` makes it a schema as well, compiled and then run on the rest.
#![no_main]

use kernel::registry::{AppEntry, AppKind, PackageState};
use kernel::tools::{Danger, ToolCall, ToolClass, ToolRef, ToolSource, check_args};
use kernel::{AppId, ConversationId, Digest, Kernel, PackageId, Rev, ToolName, TurnKey, schema::Schema};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

const SCHEMA: &str = r##"{"$defs":{"tree":{"type":"object","properties":{"n":{"type":"number","multipleOf":0.25},
    "kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}},
    "properties":{"path":{"type":"string","format":"path"},"max":{"type":"integer","minimum":1},
    "tree":{"$ref":"#/$defs/tree"},"vars":{"type":"object","additionalProperties":{"type":"string"}},
    "either":{"anyOf":[{"type":"string","pattern":"^a+b?$"},{"enum":[1,2.5,null]}]}},"required":["path"]}"##;

static HOUSE: LazyLock<(Kernel, ToolRef)> = LazyLock::new(|| {
    let mut k = Kernel::new();
    let (core, name) = (PackageId::new("core").unwrap(), ToolName::new("fuzzed").unwrap());
    k.put_package(core.clone(), "core", PackageState::Present { enabled: true }, Digest::of(b"")).unwrap();
    k.put_app(AppEntry {
        id: AppId::new("ai-echo").unwrap(),
        package: core.clone(),
        package_digest: Digest::of(b""),
        title: String::new(),
        icon: "",
        launchable: true,
        kind: AppKind::Window,
        actions: vec![],
        surfaces: vec![],
        tools: [name.clone()].into(),
        rev: Rev(0),
    })
    .unwrap();
    let source = ToolSource {
        name: name.clone(),
        owner: core,
        title: String::new(),
        description: String::new(),
        schema: SCHEMA.to_owned(),
        class: ToolClass::Read,
        danger: Danger::None,
        capabilities: [].into(),
        affordances: [].into(),
    };
    let digest = k.put_tool(source).unwrap();
    (k, ToolRef { name, digest })
});

fuzz_target!(|bytes: &[u8]| {
    let (kernel, tool) = &*HOUSE;
    let turn = TurnKey { conversation: ConversationId::new("c").unwrap(), turn: 1 };
    let app = AppId::new("ai-echo").unwrap();
    let (grant, _) = kernel.grant(turn.clone(), &app, &[tool.name.clone()], [].into(), [].into());
    let call = ToolCall { tool: tool.clone(), args: bytes.to_vec(), turn, operation: None };
    let _ = kernel.router().route(&call, &app, &grant);
    if let [0, rest @ ..] = bytes {
        let split = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
        if let Ok(schema) = Schema::compile(&String::from_utf8_lossy(&rest[..split])) {
            let _ = check_args(&schema, rest.get(split + 1..).unwrap_or_default());
        }
    }
});
