// The accessibility tree as indented text: role, name, value, states. It is what assistive
// technology sees, not what the DOM says.

/** States worth a word, in the order in which they are shown. */
const STATES = [
  "focused", "disabled", "readonly", "required", "modal", "multiline", "multiselectable", "busy",
  "checked", "pressed", "selected", "expanded", "hasPopup", "autocomplete", "level", "live", "invalid",
];
/** Repetitions of their parent's text, at a finer grain than anybody asks for. */
const NOISE = new Set(["InlineTextBox", "LineBreak"]);

function line(node) {
  const parts = [node.role?.value ?? "unknown"];
  const name = node.name?.value;
  if (name) parts.push(JSON.stringify(name));
  const value = node.value?.value;
  if (value !== undefined && value !== "" && value !== name) parts.push(`= ${JSON.stringify(value)}`);
  const states = [];
  for (const state of STATES) {
    const found = node.properties?.find((p) => p.name === state)?.value?.value;
    if (found === undefined || found === false || found === "false" || found === "off" || found === "") continue;
    states.push(found === true || found === "true" ? state : `${state}=${found}`);
  }
  // "false" is news where "true" is possible.
  for (const state of ["expanded", "checked", "pressed"]) {
    const found = node.properties?.find((p) => p.name === state)?.value?.value;
    if (found === false || found === "false") states.push(`not ${state}`);
  }
  if (states.length) parts.push(`[${states.join(", ")}]`);
  return parts.join(" ");
}

/** Folds the nodes of Accessibility.getFullAXTree, from the root or from one DOM node. */
export function foldAxTree(nodes, backendNodeId) {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const start = backendNodeId === undefined
    ? nodes[0]
    : nodes.find((node) => node.backendDOMNodeId === backendNodeId);
  if (!start) return "(not in the accessibility tree)";
  const out = [];
  const walk = (node, depth, parentName) => {
    const role = node.role?.value;
    if (NOISE.has(role)) return;
    let inner = depth;
    const repeats = role === "StaticText" && node.name?.value === parentName;
    const bare = role === "generic" && !node.name?.value;
    if (!node.ignored && !repeats && !bare) {
      out.push("  ".repeat(depth) + line(node));
      inner += 1;
    }
    const name = node.ignored || bare ? parentName : node.name?.value;
    for (const id of node.childIds ?? []) {
      const child = byId.get(id);
      if (child) walk(child, inner, name);
    }
  };
  walk(start, 0, undefined);
  return out.join("\n");
}
