//! slash
