//! Browser interfaces that `web-sys` holds back as unstable.

use wasm_bindgen::prelude::*;
use web_sys::{DomRect, Event, EventTarget};

#[wasm_bindgen]
extern "C" {
    /// <https://w3c.github.io/edit-context/>
    #[wasm_bindgen(extends = EventTarget)]
    #[derive(Clone, Debug)]
    pub type EditContext;

    /// An empty context; throws where the browser has none.
    #[wasm_bindgen(constructor, catch)]
    pub fn new() -> Result<EditContext, JsValue>;
    /// Its text; scripts of the page can change it without an event.
    #[wasm_bindgen(method, getter)]
    pub fn text(this: &EditContext) -> js_sys::JsString;
    /// Start of its selection, UTF-16.
    #[wasm_bindgen(method, getter, js_name = selectionStart)]
    pub fn selection_start(this: &EditContext) -> u32;
    /// End of its selection, UTF-16.
    #[wasm_bindgen(method, getter, js_name = selectionEnd)]
    pub fn selection_end(this: &EditContext) -> u32;
    /// Replaces a range of its text.
    #[wasm_bindgen(method, js_name = updateText)]
    pub fn update_text(this: &EditContext, start: u32, end: u32, text: &str);
    /// Sets its selection.
    #[wasm_bindgen(method, js_name = updateSelection)]
    pub fn update_selection(this: &EditContext, start: u32, end: u32);
    /// Where the field is.
    #[wasm_bindgen(method, js_name = updateControlBounds)]
    pub fn update_control_bounds(this: &EditContext, rect: &DomRect);
    /// Where the caret is.
    #[wasm_bindgen(method, js_name = updateSelectionBounds)]
    pub fn update_selection_bounds(this: &EditContext, rect: &DomRect);
    /// Where characters are.
    #[wasm_bindgen(method, js_name = updateCharacterBounds)]
    pub fn update_character_bounds(this: &EditContext, start: u32, rects: &js_sys::Array);

    /// A delta of an [`EditContext`].
    #[wasm_bindgen(extends = Event)]
    #[derive(Clone, Debug)]
    pub type TextUpdateEvent;
    /// Start of the replaced range.
    #[wasm_bindgen(method, getter, structural, js_name = updateRangeStart)]
    pub fn update_range_start(this: &TextUpdateEvent) -> u32;
    /// End of the replaced range.
    #[wasm_bindgen(method, getter, structural, js_name = updateRangeEnd)]
    pub fn update_range_end(this: &TextUpdateEvent) -> u32;
    /// Replacement.
    #[wasm_bindgen(method, getter, structural)]
    pub fn text(this: &TextUpdateEvent) -> js_sys::JsString;
    /// Start of the selection afterwards.
    #[wasm_bindgen(method, getter, structural, js_name = selectionStart)]
    pub fn selection_start(this: &TextUpdateEvent) -> u32;
    /// End of the selection afterwards.
    #[wasm_bindgen(method, getter, structural, js_name = selectionEnd)]
    pub fn selection_end(this: &TextUpdateEvent) -> u32;

    /// Asks where characters are.
    #[wasm_bindgen(extends = Event)]
    #[derive(Clone, Debug)]
    pub type CharacterBoundsUpdateEvent;
    /// First character.
    #[wasm_bindgen(method, getter, structural, js_name = rangeStart)]
    pub fn range_start(this: &CharacterBoundsUpdateEvent) -> u32;
    /// One after the last.
    #[wasm_bindgen(method, getter, structural, js_name = rangeEnd)]
    pub fn range_end(this: &CharacterBoundsUpdateEvent) -> u32;
}
