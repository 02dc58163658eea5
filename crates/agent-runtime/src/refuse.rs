//! From a module's typed refusal to the kernel's: the variant's name is the code, its sentence is
//! what was observed. One function serves every module, so no table of codes can fall behind.

use std::fmt::{Debug, Display};

use kernel::Refusal;

/// The refusal that a person and the trace see.
pub(crate) fn to_refusal(error: &(impl Debug + Display), subject: &str) -> Refusal {
    let name = format!("{error:?}");
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    let mut refusal = Refusal::new("", subject, "", &error.to_string());
    refusal.code = name[..end].to_owned().into();
    refusal
}

/// `impl From<$error> for Refusal` under one subject.
macro_rules! refusals {
    ($($error:ty => $subject:literal),* $(,)?) => {$(
        impl From<$error> for kernel::Refusal {
            fn from(error: $error) -> Self {
                $crate::refuse::to_refusal(&error, $subject)
            }
        }
    )*};
}
pub(crate) use refusals;
